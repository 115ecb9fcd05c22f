#!/bin/bash
# Where PGDATA is empty, makes a cluster for POSTGRES_USER with the password in the file POSTGRES_PASSWORD_FILE and the
# database POSTGRES_DB; then becomes the server, which listens on all addresses. Runs as the user that starts it.
set -Eeuo pipefail

mkdir -p "$PGDATA"
chmod 00700 "$PGDATA" || :
chmod 03775 /var/run/postgresql || :

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  user=${POSTGRES_USER:-postgres}
  database=${POSTGRES_DB:-$user}
  initdb --username="$user" --pwfile="$POSTGRES_PASSWORD_FILE" --encoding=UTF8 --locale-provider=builtin \
    --locale=C.UTF-8 --auth-host=scram-sha-256
  printf '\nhost all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
  if [ "$database" != postgres ]; then
    printf 'CREATE DATABASE "%s"\n' "$database" | postgres --single -D "$PGDATA" postgres
  fi
  echo 'PostgreSQL init process complete; ready for start up.'
fi

exec "$@" -c listen_addresses='*'
