"""Declarations to Model: slots, actions, instances and properties put together.

The last stage before the Model.
"""
