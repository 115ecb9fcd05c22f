# Dumps the database into /backup, and keeps the newest KEEP dumps. It is the script of the CronJob of postgres.backup.
set -eu
umask 077

# What an interrupted run left.
rm -f /backup/*.part
file=/backup/keyframe-$(date -u +%Y%m%dT%H%M%SZ).dump
PGPASSWORD=$(cat /etc/postgres/password) pg_dump --format=custom --no-owner --no-acl --file="$file.part"
# A dump that cannot be read must not displace one that can.
pg_restore --list "$file.part" >/dev/null
mv "$file.part" "$file"
ls /backup/keyframe-*.dump | sort -r | tail -n +$((KEEP + 1)) | while read -r old; do rm -f "$old"; done
echo "wrote $file"
