"""An implementation of a model on Spark: the dataflow store as a batch job and as a stream.

Nothing here is a model, and no check of a spec loads it. `resolving` decides a batch, `answering`
keeps queries up to date, `epochs` has what is on disk, `streaming` puts them together over a folder
of batches; `python -m examples.dataflow BATCHES OUT` runs that. Models know nothing of this folder.
"""
