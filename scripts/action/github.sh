# shellcheck shell=bash
# Requests to GitHub's API, and comments on pull requests. To be sourced.

# One request; the response on standard output. The token is no argument: everybody on a machine sees those.
api() { # method, path or address, further arguments of curl…
  local method=$1 address=$2
  shift 2
  [[ $address == http* ]] || address="${GITHUB_API_URL:-https://api.github.com}$address"
  curl --silent --show-error --fail-with-body --location --max-time 120 --request "$method" \
    --header 'Accept: application/vnd.github+json' --header 'X-GitHub-Api-Version: 2022-11-28' \
    --config <(printf 'header = "Authorization: Bearer %s"\n' "${GITHUB_TOKEN:-}") \
    "$@" "$address"
}

# Writes a comment on a pull request: the one that begins with the marker is replaced, so there is one.
# People's comments are never touched.
comment() { # number, marker, file
  local number=$1 marker=$2 file=$3 page=1 found='' comments body
  while [ -z "$found" ]; do
    comments=$(api GET "/repos/$GITHUB_REPOSITORY/issues/$number/comments?per_page=100&page=$page")
    found=$(jq -r --arg marker "$marker" '
      [.[] | select((.body // "" | startswith($marker)) and (.user.type // "Bot") == "Bot") | .id][0] // empty
    ' <<<"$comments")
    [ "$(jq length <<<"$comments")" = 100 ] || break
    page=$((page + 1))
  done
  # A comment holds 65,536 characters.
  body=$(jq -Rs --arg marker "$marker" '
    if length > 60000 then .[:60000] + "\n\n… cut; the page of the run has all of it." else . end
    | {body: ($marker + "\n" + .)}
  ' "$file")
  if [ -n "$found" ]; then
    api PATCH "/repos/$GITHUB_REPOSITORY/issues/comments/$found" --data @- <<<"$body" >/dev/null
  else
    api POST "/repos/$GITHUB_REPOSITORY/issues/$number/comments" --data @- <<<"$body" >/dev/null
  fi
}
