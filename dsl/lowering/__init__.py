"""Tree to functions over a View: reads, writes and questions made visible, meaning unchanged.

Built on source and state; engines only ever see what comes out.
"""
