"""What a memory remembers, and where it fails: invented lives that change, and no model.

A probe sends the lives of some users as Adds, asks for what is true of them at the end of each
period, and measures how much of it comes back, how often something outdated comes first, and at
which stage the rest was lost. It is a measurement, never a verdict: no rule depends on it.
"""
