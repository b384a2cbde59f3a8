#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# pages.sh - what the pages for operators name is there: settings and events by their names, files that links and tests point
# at, and in operate.md every alert with its runbook, ports, paths and units.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

config=docs/gen/config.md operate=docs/howto/operate.md rules=deploy/monitoring/alerts.yml
[[ -f $config ]] || finish
mapfile -t pages < <(files 'docs/*.md' README.md | grep -v '^docs/adr/')

# A dotted name in backticks whose first word is a section of the settings: a setting, or an event that the sources name.
sed -n 's/^| `\([a-z0-9_]*\.[a-z0-9_]*\)` .*/\1/p' "$config" | sort -u >"$scratch/settings"
sections=$(cut -d. -f1 "$scratch/settings" | sort -u | paste -sd'|')
mapfile -t code < <(sources c h def)
{ grep -ohE '"[a-z_]+\.[a-z0-9_]+"' -- "${code[@]}" /dev/null || true; } | tr -d '"' | sort -u >"$scratch/events"
{ grep -noE "\`($sections)\.[a-z0-9_]+\`" -- "${pages[@]}" /dev/null || true; } | tr -d '`' |
    grep -vE '\.(conf|html|pem|key|md|json|sock|log|sh|py|[ch]|def)$' >"$scratch/named" || true
while IFS=: read -r file line name; do
    grep -qxF -- "$name" "$scratch/settings" || grep -qxF -- "$name" "$scratch/events" ||
        bad "$file:$line" "$name is no setting ($config) and no event of the programs"
done <"$scratch/named"

# Links to files of the repository.
while IFS=: read -r file line link; do
    link=${link#](}
    link=${link%%#*}
    [[ -z $link || $link =~ ^[a-z]+: || -e $(dirname "$file")/$link ]] || bad "$file:$line" "the link $link leads nowhere"
done < <(grep -noE '\]\([^) ]+' -- "${pages[@]}" /dev/null || true)

[[ -f $operate ]] || finish
while read -r alert; do
    grep -qF "[$alert](runbooks.md#${alert,,})" "$operate" || bad "$operate:1" "names no runbook of the alert $alert"
done < <(sed -n 's/^ *- alert: //p' "$rules" 2>/dev/null)
mapfile -t known < <(files "$config" deploy/setup.sh core/http/ops.h 'debian/*' docs/howto/redis.md \
    docs/howto/high-availability.md)
# place PATTERN WHAT: each thing of that form in operate.md stands in a file that makes it so.
place() {
    while IFS=: read -r line thing; do
        grep -qF -e "$thing" -e "deploy/${thing#/usr/share/falaj/}" -- "${known[@]}" /dev/null ||
            bad "$operate:$line" "$2 $thing is made by no package, setting or falaj-setup"
    done < <(grep -noE "$1" "$operate" | tr -d '\`|' | sed 's/: */:/; s/ *$//')
}
place '`/(etc|var|run|usr)/[a-z/.-]+`' "the path"
place '`falaj-[a-z]+\.(service|timer)`' "the unit"
while IFS=: read -r line ports; do
    for port in $ports; do
        grep -qwF -- "$port" "${known[@]}" /dev/null || bad "$operate:$line" "the port $port is the default of no setting"
    done
done < <(grep -noE '^\| [0-9][0-9, ]+ \|' "$operate" | tr -d '|,')
while IFS=: read -r line path; do
    [[ -e $path ]] || bad "$operate:$line" "there is no $path"
done < <(grep -noE '`tests/[a-z0-9/_.]+' "$operate" | tr -d '\`')
finish
