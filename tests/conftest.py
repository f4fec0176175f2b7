"""Settings that must be made before scipy is imported."""

import os

# With it scikit-learn's check_estimator runs its array API checks too, instead of skipping them.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
