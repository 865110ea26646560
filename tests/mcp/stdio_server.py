"""The demo server over stdin and stdout: stdio_server.py [--slow FILE] [--fail TEXT]

`--slow` waits until FILE is there; `--fail` writes TEXT to stderr and ends.
"""

from __future__ import annotations

import os
import sys
import time

if "--fail" in sys.argv:
    print(sys.argv[2], file=sys.stderr)
    sys.exit(3)
if "--slow" in sys.argv:
    while not os.path.exists(sys.argv[2]):
        time.sleep(0.01)

from demo import build

build(deadly=True).run("stdio")
