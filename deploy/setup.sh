#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh (installed as falaj-setup) - makes a server or a machine out of the installed packages: database roles and schema, key
# token, certificates, settings, the first administrator and the first zone. It may run again: what is there stays.
#
#   falaj-setup server --zone CODE --country CC [--zone-name NAME] [--host NAME] KEYS [OPTION]…
#   falaj-setup worker --zone CODE --api https://HOST:8443 --enrol https://HOST --ca FILE --token FILE [--pool NAME]
#                      [--uid-per-lease] [--programs] [--gpus] [--no-start]
#
# KEYS is --module PKCS11 --token-label LABEL --pin-file FILE [--so-pin-file FILE], or --softhsm: a token in files of this
# machine, which protects nothing and is for trying out.
#
# --host NAME       name by which people and machines reach this server (this machine's full name)
# --cert F --key F  certificate and key of that name; without them a private authority is made, /etc/falaj/tls/ca.pem
# --port N          port for people and programs (443); --worker-port N for machines (8443)
# --db ADDRESS      PostgreSQL for the daemons as libpq words ("host=127.0.0.1", where Debian asks for passwords)
# --db-admin WORDS  how its superuser is reached ("host=/run/postgresql user=postgres", as the account postgres of this machine)
# --redis PLACE     Redis: a Unix socket, or HOST:PORT[,HOST:PORT] in TLS (none: every wake-up waits for the scheduler's tick)
# --uid-per-lease  each lease under an account of its own (worker.uid_base, worker.uid_count), by a drop-in of the worker's unit
# --programs        it runs programs of tenants (worker.programs = host; needs bubblewrap), which a drop-in permits
# --gpus            its unit gets the devices of NVIDIA's cards, by a drop-in
# --answers FILE    lines `option value` instead of arguments, a # begins a comment
# --no-start        write everything, start nothing; print what to start
# Exit status: 0 done, 1 a step failed (its name and reason are printed; run again when it is mended), 2 wrong usage.
set -euo pipefail
umask 077
export PGOPTIONS='-c client_min_messages=warning'

etc=/etc/falaj state=/var/lib/falaj share=/usr/share/falaj sbin=/usr/sbin
drop_ins=/etc/systemd/system/falaj-worker.service.d
zone='' country='' zone_name='' host='' module='' label='' pin_file='' so_pin_file='' softhsm=0
cert='' key='' port=443 worker_port=8443
db='host=127.0.0.1' db_admin='host=/run/postgresql user=postgres' redis='' start=1 api='' enrol='' ca='' token='' pool=default
uid_per_lease=0 programs=0 gpus=0

usage() { sed -n '6,26s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; }
say() { printf '%-12s %s\n' "$1" "$2"; }
die() { printf 'falaj-setup: %s\n' "$2" >&2; exit "$1"; }

take() {
    case $1 in
        --zone | --country | --zone-name | --host | --module | --pin-file | \
            --so-pin-file | --cert | --key | --port | --worker-port | \
            --db | --db-admin | --redis | --api | --enrol | --ca | --token | --pool)
            [[ -n ${2:-} ]] || die 2 "$1 needs a value"
            local name=${1#--}
            printf -v "${name//-/_}" '%s' "$2"
            return 2 ;;
        --token-label) [[ -n ${2:-} ]] || die 2 "$1 needs a value"; label=$2; return 2 ;;
        --softhsm) softhsm=1; return 1 ;;
        --no-start) start=0; return 1 ;;
        --uid-per-lease) uid_per_lease=1; return 1 ;;
        --programs) programs=1; return 1 ;;
        --gpus) gpus=1; return 1 ;;
        --answers) return 3 ;;
        *) die 2 "unknown option '$1'; --help lists them" ;;
    esac
}

read_answers() {
    [[ -r $1 ]] || die 2 "the answers cannot be read: $1"
    local word rest
    while read -r word rest; do
        [[ -z $word || $word == '#'* ]] || take "--${word#--}" "$rest" || [[ $? -lt 3 ]] \
            || die 2 "answers may not name more answers"
    done <"$1"
}

[[ ${1:-} != -h && ${1:-} != --help && -n ${1:-} ]] || { usage; [[ -n ${1:-} ]] && exit 0 || exit 2; }
what=$1
shift
while [[ $# -gt 0 ]]; do
    [[ $1 != -h && $1 != --help ]] || { usage; exit 0; }
    used=0
    take "$@" || used=$?
    if ((used == 3)); then
        [[ -n ${2:-} ]] || die 2 "--answers needs a file"
        read_answers "$2"
        used=2
    fi
    shift "$used"
done
[[ $zone =~ ^[a-z]{2}-[a-z0-9]+(-[a-z0-9]+)*$ ]] || die 2 "--zone CODE is needed, as ae-dxb-1"
[[ $EUID -eq 0 ]] || die 1 "it writes /etc/falaj and makes database roles: run it as root"

# put FILE OWNER GROUP MODE: what comes on standard input becomes the file, whole or not at all.
put() {
    [[ -d $(dirname "$1") ]] || install -d -m 0755 "$(dirname "$1")"
    cat >"$1.new"
    chown "$2:$3" "$1.new"
    chmod "$4" "$1.new"
    mv -f "$1.new" "$1"
}
secret() { openssl rand -base64 33 | tr -d '+/=\n' | head -c 32; }
# kept FILE: a secret that is made once.
kept() {
    [[ -s $1 ]] || secret | put "$1" root root 0600
    cat "$1"
}
as_postgres() { (cd / && setpriv --reuid "$(id -u postgres)" --regid "$(id -g postgres)" --init-groups "$@"); }
admin_sql() {
    local as=()
    [[ $db_admin != *host=/* ]] || as=(as_postgres)
    "${as[@]}" psql -X -q -v ON_ERROR_STOP=1 "dbname=$1 $db_admin"
}

database() {
    local role password
    command -v psql >/dev/null || die 1 "psql is missing: apt-get install postgresql-client-15"
    admin_sql postgres <"$share/sql/roles.sql" || die 1 "PostgreSQL's superuser cannot make roles ($db_admin); see --db-admin"
    for role in falaj_migrate falaj_app falaj_worker_api falaj_scheduler falaj_sequencer falaj_retention \
        falaj_backup; do
        password=$(kept "$etc/secrets/pg-$role")
        printf "ALTER ROLE %s PASSWORD '%s';\n" "$role" "$password" # letters and digits: see secret
    done | admin_sql postgres
    admin_sql postgres <<'SQL'
SELECT 'CREATE DATABASE falaj OWNER falaj_owner' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'falaj')
\gexec
REVOKE ALL ON DATABASE falaj FROM PUBLIC;
GRANT CONNECT ON DATABASE falaj TO falaj_migrate, falaj_app, falaj_worker_api, falaj_scheduler, falaj_sequencer,
  falaj_retention, falaj_backup;
SQL
    FALAJ_MIGRATE_URL=$(url falaj_migrate) "$sbin/falaj-migrate" >/dev/null \
        || die 1 "falaj-migrate refused; its reason stands above"
    admin_sql falaj <"$share/sql/superuser.sql"
    say database "falaj, its roles and its schema are there"
}
url() { printf '%s dbname=falaj user=%s password=%s' "$db" "$1" "$(kept "$etc/secrets/pg-$1")"; }

# keyd ARGUMENT…: falaj-keyd as its own user, its PIN as the unit gives it.
keyd() {
    (cd / && setpriv --reuid falaj-keyd --regid falaj --init-groups env ${softhsm_conf:+SOFTHSM2_CONF=$softhsm_conf} \
        "$sbin/falaj-keyd" "$@")
}

token_of_files() {
    module=/usr/lib/softhsm/libsofthsm2.so label=falaj-$zone softhsm_conf=$state/keys/softhsm.conf
    [[ -e $module ]] || die 1 "SoftHSM is missing: apt-get install softhsm2"
    install -d -m 0700 -o falaj-keyd -g falaj "$state/keys" "$state/keys/tokens"
    printf 'directories.tokendir = %s/tokens\nobjectstore.backend = file\nlog.level = ERROR\n' "$state/keys" |
        put "$softhsm_conf" falaj-keyd falaj 0600
    pin_file=$etc/keyd/$zone.pin so_pin_file=$etc/keyd/$zone.so-pin
    kept "$pin_file" >/dev/null
    kept "$so_pin_file" >/dev/null
}

keys() {
    ((softhsm)) && token_of_files
    [[ -n $module && -n $label && -n $pin_file ]] || die 2 "--module, --token-label and --pin-file are needed, or --softhsm"
    [[ $pin_file == "$etc/keyd/$zone.pin" ]] || put "$etc/keyd/$zone.pin" root root 0600 <"$pin_file"
    local dir
    dir=$(mktemp -d "$state/keys/setup.XXXXXX")
    trap 'rm -rf -- "$state"/keys/setup.??????' EXIT
    install -m 0600 -o falaj-keyd -g falaj "$etc/keyd/$zone.pin" "$dir/pin"
    [[ -z $so_pin_file ]] || install -m 0600 -o falaj-keyd -g falaj "$so_pin_file" "$dir/so-pin"
    chown falaj-keyd:falaj "$dir"
    keyd --init-token --zone "$zone" --module "$module" --token-label "$label" --pin-file "$dir/pin" \
        ${so_pin_file:+--so-pin-file "$dir/so-pin"} \
        >/dev/null || die 1 "the token has no keys for zone $zone; falaj-keyd's reason stands above"
    rm -rf -- "$dir"
    {
        printf 'KEYD_STORE=--module %s --token-label %s\n' "$module" "$label"
        [[ -z ${softhsm_conf:-} ]] || printf 'SOFTHSM2_CONF=%s\n' "$softhsm_conf"
    } | put "$etc/keyd/$zone.env" root root 0600
    say keys "zone $zone has its root, signing and authority keys in token $label"
}

certificates() {
    local tls=$etc/tls san="DNS:$host,DNS:localhost,IP:127.0.0.1,URI:spiffe://$zone/api"
    install -d -m 0755 "$tls"
    if [[ -n $cert ]]; then
        put "$tls/api.pem" root root 0644 <"$cert"
        put "$tls/api.key" falaj-api falaj 0400 <"$key"
    elif ! openssl x509 -in "$tls/api.pem" -noout -checkend 2592000 >/dev/null 2>&1; then
        [[ -s $tls/ca.key ]] || openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
            -days 3650 -subj "/CN=Falaj server authority" \
            -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign \
                -keyout "$tls/ca.key" -out "$tls/ca.pem" 2>/dev/null
        openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj "/CN=$host" \
            -keyout "$tls/api.key" -out "$tls/api.csr" 2>/dev/null
        openssl x509 -req -in "$tls/api.csr" -CA "$tls/ca.pem" -CAkey "$tls/ca.key" -CAcreateserial -days 365 \
            -out "$tls/api.pem" -extfile /dev/stdin 2>/dev/null <<EXT
subjectAltName = $san
extendedKeyUsage = serverAuth, clientAuth
keyUsage = critical, digitalSignature
basicConstraints = critical, CA:FALSE
EXT
        rm -f "$tls/api.csr"
        chmod 0644 "$tls/api.pem" "$tls/ca.pem"
        chown falaj-api:falaj "$tls/api.key"
        chmod 0400 "$tls/api.key"
    fi
    say tls "$(openssl x509 -in "$tls/api.pem" -noout -enddate | sed 's/notAfter=/certificate good until /')"
}

settings() {
    local shared="keys.sockets = $zone=/run/falaj/keyd/$zone.sock" console='' public=https://$host
    case $redis in
        '') ;;
        /*) shared+=$'\n'"redis.socket = $redis" ;;
        *) shared+=$'\n'"redis.address = $redis" ;;
    esac
    ((port == 443)) || public+=:$port
    shared+=$'\n'"api.public_url = $public" # falaj-scheduler's mails have links
    [[ ! -d $share/console ]] || console="api.console_dir = $share/console"
    with_own "$etc/api.conf" falaj-api <<CONF
# Written by falaj-setup. Your own settings go below the last line of this part, where they are kept.
run.profile = prod
db.url = $(url falaj_app)
db.node_url = $(url falaj_worker_api)
$shared
blob.dir = $state/blobs
audit.erasure_dir = $state/erasures
api.bind = 0.0.0.0
api.port = $port
api.cert = $etc/tls/api.pem
api.key = $etc/tls/api.key
api.worker_bind = 0.0.0.0
api.worker_port = $worker_port
api.worker_cert = $etc/tls/api.pem
api.worker_key = $etc/tls/api.key
api.client_cert = $etc/tls/api.pem
api.client_key = $etc/tls/api.key
$console
CONF
    with_own "$etc/scheduler.conf" falaj-scheduler <<CONF
# Written by falaj-setup. Your own settings go below the last line of this part, where they are kept.
run.profile = prod
db.url = $(url falaj_scheduler)
scheduler.url = $(url falaj_scheduler)
sequencer.url = $(url falaj_sequencer)
audit.retention_url = $(url falaj_retention)
$shared
audit.anchor_dir = $state/anchors
CONF
    say settings "$etc/api.conf, $etc/scheduler.conf"
}
# backups: settings of falaj-backup, which asks no service; the folder and its keys are made by `falaj-backup init`.
backups() {
    with_own "$etc/backup.conf" root <<CONF
# Written by falaj-setup. Your own settings go below the last line of this part, where they are kept.
run.profile = prod
backup.dir = /var/backups/falaj
backup.url = $(url falaj_backup)
backup.sign_key = $etc/secrets/backup-sign
backup.include = $etc,$state/keys
keys.sockets = $zone=/run/falaj/keyd/$zone.sock
blob.dir = $state/blobs
audit.erasure_dir = $state/erasures
CONF
    # The unit may speak to this machine alone; a database elsewhere needs the way.
    local way=/etc/systemd/system/falaj-backup.service.d/falaj-setup.conf
    if [[ " $db " == *" host="[!/]* && ! $db =~ host=(localhost|127\.|::1) ]]; then
        printf '[Service]\nIPAddressAllow=any\n' | put "$way" root root 0644
    else
        rm -f "$way"
    fi
    say backup "$etc/backup.conf; falaj-backup init --config $etc/backup.conf --recovery-key FILE makes the folder and its keys"
}
own_mark='# --- own settings ---'
# with_own FILE USER: what comes, then what stood below the mark in the file before.
with_own() {
    local own=''
    [[ ! -f $1 ]] || own=$(sed "1,/^$own_mark\$/d" "$1")
    { cat; printf '%s\n%s\n' "$own_mark" "$own"; } | put "$1" root "$2" 0640
    chgrp falaj "$1"
    chown "$2" "$1"
    chmod 0400 "$1"
}

bring_up() {
    local u
    if ((!start)); then
        say start "by hand: $*"
        return
    fi
    systemctl daemon-reload
    for u in "$@"; do
        systemctl enable --quiet "$u"
        systemctl restart "$u" || die 1 "$u did not start: journalctl -u $u"
    done
    say start "$*"
}

administrator() {
    [[ ! -s $etc/secrets/admin ]] || return 0
    (cd / && setpriv --reuid falaj-api --regid falaj --init-groups "$sbin/falaj-api" --config="$etc/api.conf" --bootstrap-admin) \
        >"$etc/secrets/admin.new" ||
        die 1 "no administrator could be made; falaj-api's reason stands above"
    mv "$etc/secrets/admin.new" "$etc/secrets/admin"
    say admin "the first administrator's login and token are in $etc/secrets/admin; change the password, then remove the file"
}

server() {
    [[ $country =~ ^[A-Z]{2}$ ]] || die 2 "--country CC is needed: two capital letters, as AE"
    [[ -z $cert || -n $key ]] || die 2 "--cert needs --key"
    host=${host:-$(hostname -f 2>/dev/null || hostname)}
    install -d -m 0755 "$etc" "$state"
    install -d -m 0700 "$etc/secrets" "$etc/keyd"
    systemd-sysusers || die 1 'the users of the package cannot be made'
    systemd-tmpfiles --create /usr/lib/tmpfiles.d/falaj-server.conf || die 1 'the folders of the package cannot be made'
    database
    keys
    certificates
    settings
    backups
    bring_up "falaj-keyd@$zone" falaj-scheduler falaj-api
    ((!start)) || administrator
    ((start)) || say admin "when they run: falaj-api --config=$etc/api.conf --bootstrap-admin, as falaj-api"
    say next "falaj zone create $zone '${zone_name:-$zone}' $country, then a tenant: see falaj(1)"
}

# permit NAME WHAT: a drop-in of the worker's unit.
permit() {
    put "$drop_ins/$1.conf" root root 0644 <"$share/falaj-worker-$1.conf"
    say "$1" "$2: $drop_ins/$1.conf"
}

worker() {
    [[ -n $api && -n $enrol && -r $ca && -r $token ]] || die 2 "--api, --enrol, --ca FILE and --token FILE are needed"
    ((!programs)) || [[ -x /usr/bin/bwrap ]] || die 1 "--programs needs bubblewrap: apt-get install bubblewrap"
    systemd-sysusers || die 1 'the users of the package cannot be made'
    systemd-tmpfiles --create /usr/lib/tmpfiles.d/falaj-worker.conf || die 1 'the folders of the package cannot be made'
    put "$etc/api-ca.pem" root root 0644 <"$ca"
    put "$etc/join-token" falaj-worker falaj-worker 0400 <"$token"
    local own=/var/lib/falaj-worker runs=''
    ((!programs)) || runs='worker.programs = host'
    put "$etc/worker.conf" root root 0644 <<CONF
# Written by falaj-setup.
run.profile = prod
worker.api_url = $api
worker.enrol_url = $enrol
worker.enrol_ca = $etc/api-ca.pem
worker.zone = $zone
worker.pool = $pool
worker.cert = $own/worker.pem
worker.key = $own/worker.key
worker.ca = $etc/api-ca.pem
worker.join_token_file = $etc/join-token
worker.work_dir = $own/work
worker.serve_bind = 0.0.0.0
$runs
CONF
    say settings "$etc/worker.conf"
    ((!uid_per_lease)) || permit accounts "each lease gets its own"
    ((!programs)) || permit programs "tenants' programs may run here"
    ((!gpus)) || permit gpus "the unit reaches the cards"
    bring_up falaj-worker
}

case $what in
    server) server ;;
    worker) worker ;;
    *) die 2 "'$what' is neither server nor worker" ;;
esac
