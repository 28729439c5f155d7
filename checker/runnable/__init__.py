"""Pages that run: the checker in the reader's browser, from static files and without a server.

`build` writes what pages need beside them: Pyodide, which is Python as WebAssembly, and this
package as archives. `inside` answers a page there. Nothing else here knows of a browser; what its
Python cannot do is asked of `machine.able`. ``arrays`` stands in for numpy.
"""
