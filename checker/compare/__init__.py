"""Two models beside each other: what one makes possible, what the other forbids, and why.

Each is checked. Counterexamples of one are tried on the other, behaviors and states of one are
looked for in the other, and all of it is told on a page, as Markdown or as JSON.
"""
