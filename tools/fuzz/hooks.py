"""What schemathesis cannot know of this interface."""

import os
import re

import schemathesis

SLUGS = ("org", "project", "env")
MADE = re.compile(r"/(?:trusted-issuers|v1/clusters)/")
NAME = re.compile(r"[a-z0-9](?:[a-z0-9._-]*[a-z0-9])?")
SLUG = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
KNOWN = frozenset(os.environ["KEYFRAME_FUZZ_SLUGS"].split(","))


@schemathesis.hook
def filter_case(context, case):
    """
    Leaves out valid slugs other than the known ones: the run may have made just that organization,
    project or environment, and what was meant to be refused would be done. And lists with what ends a path: they are
    written into it as they are, and so ask for another one.
    """
    parts = case.path_parameters or {}
    if any(not isinstance(value, str) and re.search("[?#]", str(value)) for value in parts.values()):
        return False
    # It makes an issuer or a cluster of any valid name, and null, true and 1 are such names in a path. Other methods make
    # none.
    if case.method == "PUT" and MADE.search(case.path) and NAME.fullmatch(str(parts["name"]).lower()):
        return parts["name"] == "fuzz"
    slugs = (str(parts[name]) for name in SLUGS if name in parts)
    return all(slug in KNOWN or not SLUG.fullmatch(slug) for slug in slugs)
