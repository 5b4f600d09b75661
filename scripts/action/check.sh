#!/usr/bin/env bash
# Checks packages: findings become annotations, a summary on the page of the run, and a SARIF file whose path
# is the output `sarif`. Ends with the exit code of `tplkit check`.
# No -u: to the bash of macOS (3.2) an empty array is an unset one.
set -eo pipefail
# shellcheck source=/dev/null
. "$(dirname "${BASH_SOURCE[0]}")/inputs.sh"

paths=() args=() scratch=
begin
[ ${#paths[@]} -gt 0 ] || paths=(.)

status=0
tplkit check "${args[@]}" --format github -- "${paths[@]}" || status=$?
# The same once more for other readers; what could not be done was said above.
tplkit check "${args[@]}" --format md -- "${paths[@]}" 2>/dev/null | summary || :
if [ "${INPUT_SARIF:-true}" = true ]; then
  sarif=$scratch/tplkit.sarif
  # An earlier step of the job may have left one.
  rm -f "$sarif"
  tplkit check "${args[@]}" --format sarif -o "$sarif" -- "${paths[@]}" 2>/dev/null || :
  [ ! -s "$sarif" ] || output sarif "$sarif"
fi
exit "$status"
