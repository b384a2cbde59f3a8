#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tables.sh - a table belongs to one folder (tables.owner), which alone has its SQL. Who reads or writes it from elsewhere is excused in
# tables.allow, with KEY "reads:TABLE" or "writes:TABLE" and a reason; the list may only shrink. The tables are those of
# docs/gen/schema.sql; SQL functions are not looked at, since they are the database's own.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

schema=docs/gen/schema.sql owners=tests/lint/tables.owner most=${LINT_MOST:-70}
[[ -f $schema ]] || finish
load_allow
((${#allow_line[@]} <= most)) || bad "${LINT_ALLOW#"$LINT_ROOT"/}:1" "${#allow_line[@]} exceptions; there were $most, and they may only become fewer"

cat >"$scratch/tables.pl" <<'PERL'
use strict; use warnings;
require "$ENV{LINT_DIR}/strip.pl";
my ($schema, $owners, @files) = @ARGV;
my (%exists, %owner);
open my $in, '<', $schema or die "$schema: $!";
while (<$in>) { $exists{$2} = $. if /^CREATE (TABLE|VIEW) public\.(\w+)/ && $2 !~ /^schema_/ }
close $in;
if (open $in, '<', $owners) {
    while (<$in>) {
        next unless /^(\w+)\s+(\w+)\s*$/;
        $owner{$1} = $2;
        print "$owners:$.\t-\t-\tthere is no table $1\n" unless $exists{$1};
    }
    close $in;
}
for my $t (sort keys %exists) { print "$schema:$exists{$t}\t-\t-\ttable $t belongs to no folder; give it a line in $owners\n" unless $owner{$t} }

for my $file (@files) {
    my $text = strip_c(slurp($file));
    my ($folder) = split m{/}, $file;
    my %told;
    while ($text =~ /((?:"(?:\\.|[^"\\\n])*"\s*(?:[A-Z_]+\s*)?)+)/g) {
        my ($all, $at) = ($1, $-[1]);
        my $sql = join ' ', $all =~ /"((?:\\.|[^"\\\n])*)"/g;
        $sql =~ s/\\n/\n/g;
        next unless $sql =~ /\b(?:SELECT|INSERT|UPDATE|DELETE|FROM|JOIN)\b/;
        while ($sql =~ /\b(FROM|JOIN|INTO|UPDATE|USING|DELETE\s+FROM)\s+(?:ONLY\s+)?(?:public\.)?(\w+)/g) {
            my ($word, $table) = ($1, $2);
            next if !$owner{$table} || $owner{$table} eq $folder;
            my $how = $word =~ /INTO|UPDATE|DELETE/ ? 'writes' : 'reads';
            next if $told{"$how:$table"}++;
            my $line = 1 + (substr($text, 0, $at) =~ tr/\n//);
            print "$file:$line\t$file\t$how:$table\t$how $table, which belongs to $owner{$table}/: ask a function of that folder\n";
        }
    }
}
PERL
mapfile -t list < <(sources c h)
LINT_DIR=$lint_dir perl "$scratch/tables.pl" "$schema" "$owners" "${list[@]}" >"$scratch/findings"
while IFS=$'\t' read -r where file key rule; do
    allowed "$key" "$file" || bad "$where" "$rule"
done <"$scratch/findings"
stale_allow
finish
