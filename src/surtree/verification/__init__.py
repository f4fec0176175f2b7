"""A second program that confirms what a model file claims, and shares no code with the solver."""

from surtree.verification.verify import Verification, VerifiedPart, verify

__all__ = ["Verification", "VerifiedPart", "verify"]
