"""Runs a command on a terminal of its own: terminal.py SCRIPT COMMAND [ARGUMENT ...]

SCRIPT is JSON: [[text to wait for, text to type], ...]. What the terminal shows goes to standard output; the exit code is the
command's. With nothing shown for 20 seconds the command is killed.
"""
import json, os, pty, select, signal, sys

steps = json.loads(sys.argv[1])
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(sys.argv[2], sys.argv[2:])
shown = b""
seen = 0
while True:
    ready, _, _ = select.select([terminal], [], [], 20)
    if not ready:
        os.kill(pid, signal.SIGKILL)
    try:
        chunk = os.read(terminal, 65536)
    except OSError:
        break
    if not chunk:
        break
    shown += chunk
    while steps and steps[0][0].encode() in shown[seen:]:
        seen = shown.index(steps[0][0].encode(), seen) + len(steps[0][0].encode())
        os.write(terminal, steps.pop(0)[1].encode())
_, status = os.waitpid(pid, 0)
sys.stdout.buffer.write(shown)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
