"""The table of engines, the reference engine, which defines every count, and what engines share.

`table` imports an engine when it is chosen; of the engines only Spark imports another, the native
one, whose kernels its executors run. `layout` turns states into rows. No verdict and no
report enters.
"""
