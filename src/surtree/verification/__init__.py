"""A second program that confirms what a model file claims, and shares no code with the solver."""

from surtree.verification._result import Verification, VerifiedPart
from surtree.verification.verify import verify

__all__ = ["Verification", "VerifiedPart", "verify"]
