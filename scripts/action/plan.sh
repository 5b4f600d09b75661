#!/usr/bin/env bash
# Plans an apply: the plan is saved (output `plan`) under the name of the artifact that keeps it (output
# `artifact`), and shown in a comment on the pull request that is updated by each push. Ends with the exit
# code of `tplkit plan`.
# No -u: to the bash of macOS (3.2) an empty array is an unset one.
set -eo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=/dev/null
. "$here/inputs.sh"
# shellcheck source=/dev/null
. "$here/github.sh"

paths=() args=() target=() scratch=
begin

number=$(event .pull_request.number)
head=$(event .pull_request.head.sha)
head=${head:-${GITHUB_SHA:-}}
shown=$scratch/tplkit-plan.md
said=$scratch/tplkit-plan.txt
rm -rf "$scratch/tplkit-plan"
mkdir -p "$scratch/tplkit-plan"
plan=$scratch/tplkit-plan/plan.json

status=0
tplkit plan "${args[@]}" "${target[@]}" --format md --out "$plan" -- "${paths[@]}" >"$shown" 2>"$said" || status=$?
cat "$shown"
cat "$said" >&2
if [ ! -s "$shown" ]; then
  { printf '### There is no plan\n\nIt ended with exit code %s:\n\n```text\n' "$status"; head -c 4000 "$said"; printf '```\n'; } >"$shown"
fi
if [ -s "$plan" ]; then
  output plan "$plan"
  output artifact "tplkit-plan-$head"
  printf '\nPlanned for %s. The merge applies exactly this, or nothing when the destination has changed by then.\n' \
    "$head" >>"$shown"
fi
summary <"$shown"
if [ "${INPUT_COMMENT:-true}" = true ] && [ -n "$number" ]; then
  comment "$number" "<!-- tplkit plan ${INPUT_TARGET:-} -->" "$shown" ||
    echo "::warning title=tplkit::The plan could not be written into a comment: the job needs \`pull-requests: write\`."
fi
exit "$status"
