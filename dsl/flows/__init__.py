"""Functions that yield, as instructions: code, the suspended run, what it keeps and shows.

Built on lowering; a suspended run is a value in a slot of the state.
"""
