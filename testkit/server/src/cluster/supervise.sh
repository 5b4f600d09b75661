# Runs one PostgreSQL server for as long as standard input stays open, or a process runs.
#
# $1: folder of the PostgreSQL programs; $2: empty folder that becomes the cluster and is removed. A
# line `stop` on standard input stops the server, `start` starts it again. With $3, the id of a process,
# standard input is of no interest. OPTIONS are further options of the server; it becomes a standby of
# PRIMARY where that names a server.
#
# The test process holds the other end of the pipe. However that process ends (returning, failing,
# aborting, killed), the pipe closes and the server goes with it.
set -eu
bin=$1
folder=$2
cd "$folder"

if [ -n "${PRIMARY:-}" ]; then
  "$bin/pg_basebackup" --pgdata data --dbname "$PRIMARY" --checkpoint fast --write-recovery-conf >log 2>&1
else
  "$bin/initdb" --pgdata data --username postgres --auth trust --encoding UTF8 --locale C >log 2>&1
  echo "listen_addresses = ''" >>data/postgresql.conf
fi
mkdir socket

start() {
  # The data lives for minutes: nothing here needs to survive a power cut.
  # shellcheck disable=SC2086 # Several words, as they are meant.
  "$bin/postgres" -D data -k "$folder/socket" -c max_connections=400 \
    -c fsync=off -c synchronous_commit=off -c full_page_writes=off ${OPTIONS:-} >>log 2>&1 &
  server=$!
}

stop() {
  kill -INT "$server" || :
  wait "$server" || :
}

start
if [ -n "${3:-}" ]; then
  while ps -p "$3" >/dev/null 2>&1; do sleep 1; done
else
  while read -r word; do
    case $word in
      stop) stop ;;
      start) start ;;
    esac
  done
fi
stop
cd /
rm -rf "$folder"
