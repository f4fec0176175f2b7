#!/bin/sh
# packaging/changed.sh PATH...: prints "yes" unless these paths are surely as they were when last tested.
#
# Ahead of origin/main, its commits and uncommitted changes are what counts. On main itself nobody can tell
# how many commits have landed at once: then it is the last fifty. A clone that has less history says "yes".
cd "$(dirname "$0")/.." || exit 1
head=$(git rev-parse HEAD 2> /dev/null) || { echo yes; exit; }
base=$(git merge-base HEAD origin/main 2> /dev/null)
if [ -z "$base" ] || [ "$base" = "$head" ]; then base=HEAD~50; fi
git diff --quiet "$base" -- "$@" 2> /dev/null || echo yes
