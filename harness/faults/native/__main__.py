"""`python -m harness.faults.native`: build the native fault libraries and print where they are."""

import sys

from harness.faults.native.build import main

sys.exit(main())
