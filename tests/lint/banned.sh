#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# banned.sh - calls and SQL that are refused in the product, each with its reason. Exceptions: banned.allow.
# shellcheck source=tests/lint/lib.sh
source "$(dirname "$0")/lib.sh"

load_allow
mapfile -t list < <(sources c h def cu cuh sql)
[[ ${#list[@]} -gt 0 ]] || finish

cat >"$scratch/banned.pl" <<'PERL'
use strict; use warnings;
require "$ENV{LINT_DIR}/strip.pl";

my %calls = (                                    # call => [key, why]
    (map { $_ => ['unsafe', 'it knows no bound; use struct buf or snprintf'] } qw(strcpy strcat sprintf vsprintf stpcpy gets)),
    (map { $_ => ['unsafe', 'it keeps hidden state; use str_cut'] } qw(strtok)),
    (map { $_ => ['unsafe', 'it cannot report junk; use str_to_i64 or str_to_f64'] } qw(atoi atol atoll atof)),
    (map { $_ => ['unsafe', 'it returns shared memory; use core/base/clock'] } qw(gmtime localtime ctime asctime)),
    (map { $_ => ['unsafe', 'its state is shared or its numbers are guessable; use core/crypto/rand'] } qw(rand srand random)),
    (map { $_ => ['unsafe', 'it runs a shell or races; make the call yourself'] } qw(system popen tmpnam mktemp)),
    (map { $_ => ['longjmp', 'errors are returned'] } qw(setjmp longjmp)),
    exit => ['exit', 'only a main function ends the process'],
    (map { $_ => ['malloc', 'memory comes from the arena; a handle is made in its _new, _init, _open, _alloc or _begin function'] }
        qw(malloc calloc realloc strdup strndup asprintf vasprintf)),
    db_begin => ['db_begin', 'a transaction outside the pipeline is RUN_READ, RUN_WRITE or RUN_TX (core/db/run_tx.h)'],
);
my $calls = join '|', map quotemeta, sort keys %calls;

sub report { print join("\t", @_), "\n" }

sub check_c {
    my ($file) = @_;
    my $text = slurp($file);
    my $function = '';
    my $n = 0;
    for my $line (split /\n/, strip_c($text, blank => 1)) {
        $n++;
        $function = $1 if $line =~ /^[A-Za-z_].*?\b(\w+)\s*\(/ && $line !~ /;\s*$/ && $line !~ /^\s*#/;
        next if $line =~ /^\s*#\s*include/;
        report("$file:$n", $file, 'surrogate', 'surrogate pairs are decoded by core/base/json_scan alone')
            if $line =~ /0xd800|0xdbff|0xdc00/i && $file !~ m{^core/base/(json_scan|str)\.c$};
        report("$file:$n", $file, 'json', 'buf_add_json(): workers print JSON by schemas alone (json_encode)')
            if $file =~ m{^workers/} && $line =~ /\bbuf_add_json\s*\(/;
        while ($line =~ /(?<![\w.>])($calls)\s*\(/g) {
            my $call = $1;
            my ($key, $why) = @{ $calls{$call} };
            next if $key eq 'exit' && $file =~ m{(?:^|/)main\.c$};
            next if $key eq 'malloc' && ($file =~ m{^core/base/} || $function =~ /_(?:new(?:_\w+)?|init|open(?:_\w+)?|alloc|begin)$/);
            next if $key eq 'db_begin' && $file =~ m{^core/db/};
            report("$file:$n", $file, $key, "$call(): $why");
        }
    }
    check_actor($file, $text) unless $file =~ m{^tenants/access/actor\.c$};
    check_strings($file, strip_c($text));
    my $line_of = 0;
    for my $line (split /\n/, strip_c($text)) {
        $line_of++;
        report("$file:$line_of", $file, 'doc', 'a .doc says what the member is, or is left out where nobody reads it') if $line =~ /\.doc\s*=\s*"[^"]?"/;
    }
}

# What is read from the log may be copied on; who did an act is said in one place.
sub check_actor {
    my ($file, $text) = @_;
    my $n = 0;
    for my $line (split /\n/, strip_c($text, blank => 1)) {
        $n++;
        while ($line =~ /(?:\.|->)actor(?:_id)?\s*=(?!=)\s*([^,;}]*)/g) {
            next if $1 =~ /->actor(?:_id)?\s*$|^audit_actor_id\(/;
            report("$file:$n", $file, 'actor', 'who did an audited act is filled in by audit_event_by and its like (tenants/access/actor.h) only');
        }
    }
}

# Adjacent string literals are one text to the compiler, and so they are here.
sub check_strings {
    my ($file, $text) = @_;
    while ($text =~ /((?:"(?:\\.|[^"\\\n])*"\s*)+)/g) {
        my ($all, $at) = ($1, $-[1]);
        my $line = 1 + (substr($text, 0, $at) =~ tr/\n//);
        my $sql = join '', $all =~ /"((?:\\.|[^"\\\n])*)"/g;
        report("$file:$line", $file, 'json', 'JSON put together by hand: describe the message once as a schema (core/wire) and let json_encode print it')
            if $file =~ m{^workers/} && $sql =~ /\\":(?!\s)|[{,\[]\\"|\\"[}\]]/;
        $sql =~ s/\\n/\n/g;
        check_sql($file, $sql, $line);
    }
}

sub check_sql {
    my ($file, $sql, $line) = @_;
    $sql =~ s{--[^\n]*}{}g;
    # A statement may pass its own common table expression on whole (alias.*); what it returns in the end has named columns.
    while ($sql =~ /\b(?:SELECT|RETURNING)\s+\*(?!\s+FROM\s+unnest\s*\()/gi) {
        my $at = $line + (substr($sql, 0, $-[0]) =~ tr/\n//);
        report("$file:$at", $file, 'select-star', 'name the columns: SELECT * and RETURNING * follow the table, not the code');
    }
    # The SET clause alone: a WHERE or FROM may name the state as it likes.
    while ($sql =~ /\bUPDATE\s+(?:ONLY\s+)?(?:public\s*\.\s*)?"?job"?(?:\s+(?:AS\s+)?(?!SET\b)\w+)?\s+SET\b((?:(?!\b(?:WHERE|FROM|RETURNING)\b).)*)/gis) {
        my $at = $line + (substr($sql, 0, $-[0]) =~ tr/\n//);
        my $set = "$1,";
        report("$file:$at", $file, 'job-state', 'the state of a job changes by job_apply alone (scheduler/jobs/job_apply.h)')
            if $set =~ /(?:^|[,(])\s*"?state"?\s*[=,)]/i && $file ne 'scheduler/jobs/job_apply.c';
    }
    report("$file:$line", $file, 'session-set', 'a setting of the session outlives its transaction; use SET LOCAL')
        if $sql =~ /(?:^|;)\s*SET\s+(?!LOCAL\b|CONSTRAINTS\b|TRANSACTION\b)(?:SESSION\s+)?[\w.]+\s*(?:=|TO\b)/i
        || $sql =~ /\bset_config\s*\([^;]*,\s*false\s*\)/i;
}

for my $file (@ARGV) {
    if ($file =~ /\.sql$/) {
        next if $file =~ m{(?:^|/)schema\.sql$};     # printed by pg_dump
        (my $text = slurp($file)) =~ s{--[^\n]*}{}g;
        my $line = 1;
        for my $statement (split /(?<=;)/, $text) {
            my ($lead) = $statement =~ /^(\s*)/;
            $line += $lead =~ tr/\n//;
            check_sql($file, substr($statement, length $lead), $line);
            $line += substr($statement, length $lead) =~ tr/\n//;
        }
    } else {
        check_c($file);
    }
}
PERL
LINT_DIR=$lint_dir perl "$scratch/banned.pl" "${list[@]}" >"$scratch/findings"
while IFS=$'\t' read -r where file key rule; do
    allowed "$key" "$file" || bad "$where" "$rule"
done <"$scratch/findings"
stale_allow
finish
