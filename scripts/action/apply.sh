#!/usr/bin/env bash
# Applies the plan of the pull request whose merge made this commit: the very file that its last run saved.
# Ends with the exit code of `tplkit apply`; 6, with a comment, when the destination is not as it was planned
# for. A commit without a pull request applies nothing.
# No -u: to the bash of macOS (3.2) an empty array is an unset one.
set -eo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=/dev/null
. "$here/inputs.sh"
# shellcheck source=/dev/null
. "$here/github.sh"

paths=() args=() target=() scratch=
begin

stop() { # exit code, text
  printf '::error title=tplkit::%s\n' "$2"
  exit "$1"
}

# Closed without a merge: there is nothing to carry out.
if [ "$(event '.pull_request.merged | tostring')" = false ]; then
  echo '::notice title=tplkit::The pull request was not merged; nothing is applied.'
  exit 0
fi
commit=$(event .pull_request.merge_commit_sha)
commit=${commit:-$GITHUB_SHA}
pulls=$(api GET "/repos/$GITHUB_REPOSITORY/commits/$commit/pulls")
# A commit belongs to every pull request that holds it; the one that it merged is meant.
pull=$(jq -c --arg commit "$commit" '
  map(select(.merged_at != null)) | (map(select(.merge_commit_sha == $commit)) + .)[0] // empty
' <<<"$pulls")
if [ -z "$pull" ]; then
  echo "::notice title=tplkit::No merged pull request belongs to $commit; nothing is applied."
  exit 0
fi
number=$(jq -r .number <<<"$pull")
head=$(jq -r .head.sha <<<"$pull")

# Runs of forks leave artifacts here, too, and choose what is in them: only those of this repository count.
artifacts=$(api GET "/repos/$GITHUB_REPOSITORY/actions/artifacts?name=tplkit-plan-$head&per_page=100")
artifact=$(jq -r --arg name "tplkit-plan-$head" --arg repository "$GITHUB_REPOSITORY" '
  [.artifacts[]
    | select(.name == $name and (.expired | not))
    | select(.workflow_run == null or .workflow_run.head_repository_id == .workflow_run.repository_id)]
  | sort_by(.created_at // "", .id) | last
  | if . == null then empty else .archive_download_url // "/repos/\($repository)/actions/artifacts/\(.id)/zip" end
' <<<"$artifacts")
[ -n "$artifact" ] || stop 1 "Pull request #$number has no saved plan for $head: plan it, and merge that."

packed=$scratch/tplkit-plan.zip
api GET "$artifact" --output "$packed"
# Next to what was planned, where its settings are found.
folder=.
[ ${#paths[@]} = 0 ] || folder=$(dirname "${paths[0]}")
plan=$(mktemp "$folder/.tplkit-plan-XXXXXX")
trap 'rm -f "$plan"' EXIT
python3 -c '
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as packed:
    [name] = [name for name in packed.namelist() if name.endswith(".json")]
    sys.stdout.buffer.write(packed.read(name))
' "$packed" >"$plan" || stop 1 "The artifact tplkit-plan-$head holds no plan."

status=0
said=$scratch/tplkit-apply.txt
# Standard error is kept as well as shown.
{ tplkit apply "${args[@]}" "${target[@]}" "$plan" 2>&1 >&3 | tee "$said" >&2; } 3>&1 || status=$?
if [ "$status" = 6 ] && [ "${INPUT_COMMENT:-true}" = true ]; then
  shown=$scratch/tplkit-apply.md
  {
    printf '### Not applied: the destination has changed since it was planned for\n\n'
    printf 'Nothing was written. Plan again in a new pull request, look at it, and merge that.\n\n```text\n'
    head -c 4000 "$said"
    printf '```\n'
  } >"$shown"
  summary <"$shown"
  comment "$number" "<!-- tplkit apply ${INPUT_TARGET:-} -->" "$shown" ||
    echo "::warning title=tplkit::This could not be written into a comment: the job needs \`pull-requests: write\`."
fi
exit "$status"
