#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# kinds.sh - a kind of job is named in its row and its type_<name> files only; everything else asks the row
# (core/wire/job_type.def). Words that are not kinds though they look like one, and demos: kinds.allow.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

load_allow
def=core/wire/job_type.def
[[ -f $def ]] || finish
names=$(sed -nE 's/^JOB_TYPE\([A-Z_0-9]+, *([a-z_0-9]+),.*/\1/p' "$def" | paste -sd'|')
[[ -n $names ]] || { bad "$def:1" "no row that can be read"; finish; }

# Migrations that are history, and the three functions that are printed from the rows.
mapfile -t list < <({ sources c h def sql; files 'console/src/*.ts' 'console/src/*.tsx' console/generate.mjs; } |
    grep -vE -e '(^|/)(job_type|type_('"$names"'))(_int)?\.(c|h|def|ts|tsx|sql)$' -e '^console/src/api/gen/' \
        -e '^migrations/00(0[0-9]|1[0-9]|2[01])_' \
        -e '^migrations/(functions/(job_purpose|job_stays)|helpers/job_kind_is_known)\.sql$')
[[ ${#list[@]} -gt 0 ]] || finish

cat >"$scratch/kinds.pl" <<'PERL'
use strict; use warnings;
require "$ENV{LINT_DIR}/strip.pl";
my $names = $ENV{KINDS};
my $upper = uc $names;
for my $file (@ARGV) {
    my $text = slurp($file);
    $text = strip_c($text) if $file =~ /\.(?:c|h|def)$/;
    $text =~ s{--[^\n]*}{}g if $file =~ /\.sql$/;
    my $n = 0;
    for my $line (split /\n/, $text) {
        $n++;
        next if $file =~ /\.(?:tsx?|mjs)$/ && $line =~ m{^\s*(?://|\*|/\*)};
        print "$file:$n\t$file\t$1\n"
            if $line =~ /\bJOB_($upper)\b/ || $line =~ /(?:['"`])($names)\\?(?:['"`])/ || $line =~ /[?&]kind=($names)\b/;
    }
}
PERL
LINT_DIR=$lint_dir KINDS=$names perl "$scratch/kinds.pl" "${list[@]}" >"$scratch/findings"
while IFS=$'\t' read -r where file name; do
    allowed kind "$file" || bad "$where" "names the kind of job $name: ask its row ($def), or put it in type_${name,,}"
done <"$scratch/findings"
stale_allow
finish
