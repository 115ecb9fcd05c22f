"""Runs a program at a new terminal: terminal.py PROGRAM [ARGUMENT ...]

Standard input is typed there, and everything shown goes to standard output. The exit code is the one that a shell reports.
"""

import os
import pty
import select
import sys

child, terminal = pty.fork()
if child == 0:
    os.execvp(sys.argv[1], sys.argv[1:])

sources = [terminal, 0]
while True:
    ready, _, _ = select.select(sources, [], [])
    if 0 in ready:
        typed = os.read(0, 65536)
        if typed:
            os.write(terminal, typed)
        else:
            sources.remove(0)
    if terminal in ready:
        try:
            shown = os.read(terminal, 65536)
        except OSError:
            break
        if not shown:
            break
        os.write(1, shown)

_, status = os.waitpid(child, 0)
code = os.waitstatus_to_exitcode(status)
sys.exit(code if code >= 0 else 128 - code)
