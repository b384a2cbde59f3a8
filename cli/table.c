/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - every command of falaj, one row each; see command.h for the small languages of a row. */
#include "cli/table_array.h"
#include "cli/table_size.h"
#include "cli/command.h"
#include "core/wire/job_type.h"

/* Of the commands that go into a program. */
#define INSIDE_RANK { "rank", 0, "N", "Of a job on several machines: in the program of this rank (0)", NULL }
#define FLAGS(...) (const struct cli_flag[]){ __VA_ARGS__, { NULL } }
#define LIMIT_FLAG { "limit", 0, "N", "Most items to show; 0 shows all, page by page", NULL }

/* Those of scheduler/jobs/job_state.def, which this program does not link; a unit test holds the two together. */
#define JOB_STATES "PENDING|HELD|SUSPENDED|ADMITTED|STARTING|RUNNING|PREEMPTING|COMPLETED|FAILED|CANCELLED|TIMEOUT|DEADLINE|" \
    "OUT_OF_MEMORY|NODE_FAIL|REJECTED"

const struct cli_flag global_flags[] = {
    { "output", 'o', "FORM", "Form of the answer on standard output", "table|wide|json|yaml|csv|name|jsonpath=" },
    { "profile", 0, "NAME", "Profile to use instead of the current one", NULL },
    { "url", 0, "URL", "API to talk to", NULL },
    { "ca-cert", 0, "FILE", "Trust the authorities in this PEM file and no others (also: FALAJ_CACERT)", NULL },
    { "quiet", 'q', NULL, "No remarks on standard error", NULL },
    { "debug", 0, NULL, "Show the HTTP calls, secrets masked", NULL },
    { "no-color", 0, NULL, "No colour (also: NO_COLOR)", NULL },
    { "yes", 'y', NULL, "Answer questions with yes", NULL },
    { "help", 'h', NULL, "Show help", NULL },
    { "version", 0, NULL, "Show the version", NULL },
    { NULL },
};

const struct command_group command_groups[] = {
    { "job", "Work: submit, watch, cancel" },
    { "array", "Many jobs that differ by an index" },
    { "dataset", "Data sets and their versions" },
    { "upload", "Data sets that come in parts" },
    { "model", "Registered models" },
    { "deploy", "Models that answer requests" },
    { "tenant", "Tenants of the platform" },
    { "zone", "Residency zones and their law" },
    { "transfer", "Data that crosses from one zone to another" },
    { "project", "Parts of a tenant" },
    { "approval", "What needs more than one person" },
    { "access", "Who may do what, and why" },
    { "user", "People and programs of a tenant" },
    { "invitation", "People who are asked to come in" },
    { "session", "Who is signed in, and where" },
    { "group", "Groups of people, as a provisioner keeps them" },
    { "role", "Who may do what" },
    { "token", "API tokens" },
    { "quota", "How much a tenant may use" },
    { "rule", "How a tenant divides its quota among projects and queues" },
    { "tenant-rule", "What a tenant has of slots and GPUs, by flavor and zone; set by the platform" },
    { "budget", "What may be spent in a month or in all" },
    { "notification", "Who is told of what, by mail or a webhook" },
    { "price", "What an hour and a kWh cost on each flavor" },
    { "class", "Priority classes: which jobs of a tenant go first" },
    { "queue", "Queues that the tenant declared, and their shares" },
    { "legal-clock", "Terms that a law sets, until they are closed" },
    { "environment", "Images that programs run in" }, { "registry", "Registries that images come from" },
    { "secret", "Values that programs get and nobody reads back" },
    { "inside", "Whether people are let into running programs" },
    { "idle", "For how long jobs may hold what they do not use" },
    { "node", "Worker machines" },
    { "engine", "Outside schedulers that lend machines" },
    { "reservation", "Machines that are kept for a window of time" },
    { "system", "The platform itself" },
    { "key", "Keys of the tenant, and of a zone's custodians" },
    { "issuer", "Outside issuers whose tokens programs bring" },
    { "idp", "OpenID providers at which people sign in" },
    { "audit", "The record of everything, and its proof" },
    { "keys", "The keys of a zone" },
    { "profile", "Where to talk to and as whom" },
    { "config", "What this program has been told" },
    { "support", "What a maintainer needs to see" },
    { "dev", "The whole platform on this machine" },
    { NULL, NULL },
};

static const struct noun array_noun = { "array", "arr_", "/v1/arrays", "array_id" };
static const struct noun job_noun = { "job", "job_", "/v1/jobs", "job_id" };
static const struct noun dataset_noun = { "data set", "dst_", "/v1/datasets", "dataset_id" };
static const struct noun model_noun = { "model", "mdl_", "/v1/models", "model_id" };
static const struct noun deploy_noun = { "deployment", "dpl_", "/v1/deployments", "deployment_id" };
static const struct noun tenant_noun = { "tenant", "tnt_", "/v1/tenants", "tenant_id" };
static const struct noun project_noun = { "project", "prj_", "/v1/projects", "project_id" };
static const struct noun notice_noun = { "notification", "ntf_", "/v1/notifications", "notification_id" };
static const struct noun queue_noun = { "queue", "que_", "/v1/queues", "queue_id" };
static const struct noun environment_noun = { "environment", "env_", "/v1/environments", "environment_id" };
static const struct noun shared_noun = { "shared image", "shi_", "/v1/shared-environments", "shared_id" };
static const struct noun secret_noun = { "secret", "sec_", "/v1/secrets", "secret_id" };
static const struct noun legal_clock_noun = { "legal clock", "clk_", "/v1/legal-clocks", "clock_id" };
static const struct noun budget_noun = { "budget", "bdg_", "/v1/budgets", "budget_id" };
static const struct noun issuer_noun = { "issuer", "iss_", "/v1/issuers", "issuer_id" };
static const struct noun idp_noun = { "provider", "idp_", "/v1/identity-providers", "provider_id" };
static const struct noun user_noun = { "user", "usr_", "/v1/users", "user_id" };
static const struct noun group_noun = { "group", "grp_", "/v1/groups", "group_id" };
static const struct noun reservation_noun = { "reservation", "rsv_", "/v1/reservations", "reservation_id" };
static const struct noun registry_noun = { "registry", "reg_", "/v1/registries", "registry_id" };
static const struct noun engine_noun = { "engine", "eng_", "/v1/engines", "engine_id" };
static const struct noun node_noun = { "node", "nod_", "/v1/nodes", "node_id" };

#define JOB_COLUMNS "job_id:ID name:NAME kind:KIND state:STATE reason:REASON +zone:ZONE +pool:POOL +slots:SLOTS " \
                    "+priority:PRIORITY submitted_at:SUBMITTED"
#define JOB_FILTER_FLAGS \
    { "project", 0, "PROJECT", "Only jobs of this project", NULL }, \
    { "created-by", 0, "USER", "Only jobs that this user submitted (its id)", NULL }, \
    { "zone", 0, "CODE", "Only jobs that are pinned to this zone", NULL }, \
    { "pool", 0, "POOL", "Only jobs of this pool", NULL }, \
    { "name", 0, "TEXT", "Only jobs whose name contains this (3 characters or more)", NULL }, \
    { "since", 0, "TIME", "Only jobs submitted at this time or later", NULL }, \
    { "until", 0, "TIME", "Only jobs submitted before this time", NULL }
#define JOB_FILTERS "&project_id=project created_by=created-by zone=zone pool=pool q=name submitted_after=since " \
                    "submitted_before=until"
#define LIST_FLAGS(things) \
    { "q", 0, "TEXT", "Only " things " whose name contains this (3 characters or more)", NULL }, \
    { "sort", 0, "ORDER", "Newest first, or by name; - is downwards", "-created|created|name|-name" }, LIMIT_FLAG
#define LIST_OF_PROJECT_FLAGS(things) \
    { "project", 0, "PROJECT", "Only " things " of this project", NULL }, \
        { "created-by", 0, "USER", "Only " things " that this user made (its id)", NULL }
#define LIST_FILTERS "q=q sort=sort"
#define LIST_OF_PROJECT_FILTERS "&project_id=project created_by=created-by"
#define NAMES "name:NAME +display_name:DISPLAY_NAME +display_name_ar:ARABIC "
#define SHOWN_NAME_FLAGS { "display-name", 0, "TEXT", "Name for people", NULL }, \
    { "display-name-ar", 0, "TEXT", "In Arabic", NULL }
#define SHOWN_NAME_BODY "display_name=display-name display_name_ar=display-name-ar"
#define DELETED_COLUMNS "objects:OBJECTS stored_bytes:BYTES"
#define DELETE_MORE \
    "The keys of its content are forgotten: nothing brings it back. Asks first on a terminal; elsewhere it needs --yes.\n" \
    "Refused under a legal hold, and while deployments, unfinished jobs or uploads use it: the answer names them."
#define TENANT_COLUMNS "tenant_id:ID " NAMES "state:STATE home_zone:HOME +allowed_zones:ZONES created_at:CREATED"
#define PROJECT_COLUMNS "project_id:ID " NAMES "state:STATE created_at:CREATED"
#define APPROVAL_COLUMNS "approval_id:ID kind:KIND subject:SUBJECT state:STATE given:GIVEN needed:NEEDED +reason:REASON " \
                         "expires_at:EXPIRES"
#define ISSUER_COLUMNS "issuer_id:ID name:NAME issuer:ISSUER audience:AUDIENCE state:STATE +single_use:ONCE +jwks_uri:KEYS " \
                       "created_at:CREATED"
#define IDP_COLUMNS "provider_id:ID name:NAME issuer:ISSUER client_id:CLIENT state:STATE +create_users:CREATES " \
                    "+groups_claim:GROUPS created_at:CREATED"
#define DEV_FLAGS \
    { "data", 0, "DIR", "Data folder ($XDG_DATA_HOME/falaj; root: /var/lib/falaj-dev)", NULL }

const struct command command_table[] = {
    { NULL, "dev", "", 0, 0,
      FLAGS(DEV_FLAGS, { "ephemeral", 0, NULL, "A folder that is removed at the end", NULL },
            { "zone", 0, "CODE[,CODE]", "Residency zones; each has a falaj-keyd and a worker of its own (ae-dxb-1)", NULL },
            { "port", 0, "N", "Port of the API; 0: any free one (as before, else 8080 or the next free)", NULL },
            { "slots", 0, "N", "Leases the worker runs at once (as many as cores, at least 8)", NULL },
            { "hsm", 0, NULL, "The zone's keys in a SoftHSM token instead of a file (new data folder)", NULL },
            { "console", 0, "DIR", "Serve the web console that was built into this folder (the one beside the programs)", NULL },
            { "no-console", 0, NULL, "Serve no web console", NULL },
            { "json-ready", 0, NULL, "Print one line of JSON when ready", NULL },
            { "detach", 0, NULL, "Return when ready and leave it running", NULL },
                { "foreground", 0, NULL, "Stay until interrupted (this is the default)", NULL }),
      cmd_dev, "Run the whole platform on this machine",
      "PostgreSQL, Redis, falaj-keyd, falaj-api, falaj-scheduler and one falaj-worker, each a process of its own, on loopback "
      "and Unix\n"
      "sockets. Everything lies in one data folder; the logs are in its folder log.", CMD_LOCAL },
    { "dev", "status", "", 0, 0, FLAGS(DEV_FLAGS), cmd_dev, "Show whether the platform of a data folder runs", NULL, CMD_LOCAL },
    { "dev", "stop", "", 0, 0, FLAGS(DEV_FLAGS), cmd_dev, "Stop the platform of a data folder", NULL, CMD_LOCAL },
    { "dev", "remove", "", 0, 0, FLAGS(DEV_FLAGS), cmd_dev, "Stop the platform and remove its data folder", NULL, CMD_LOCAL },
    { "keys", "init", "", 0, 0,
      FLAGS({ "zone", 0, "CODE", "Residency zone whose keys are made", NULL }, { "module", 0, "FILE",
                                                                                "PKCS#11 module of the token", NULL },
            { "token-label", 0, "LABEL", "Label of the token", NULL },
            { "pin-file", 0, "FILE", "0600 file with the PIN (the systemd credential falaj-pin)", NULL },
            { "so-pin-file", 0, "FILE", "0600 file with the PIN of the security officer: initialise the token if it is blank",
             NULL }),
      cmd_keys_init, "Make the keys of a zone in a PKCS#11 token, and show what is there",
      "Runs falaj-keyd --init-token: root key version 1, signing key, and import key, each only when there is none yet. A "
      "token that is in\n"
      "use is never initialised again. Run it as the account of falaj-keyd.\n"
      "  falaj keys init --zone ae-dxb-1 --module /usr/lib/softhsm/libsofthsm2.so --token-label falaj --pin-file pin "
      "--so-pin-file so-pin", CMD_LOCAL },
    { NULL, "demo", "", 0, 0,
      FLAGS(DEV_FLAGS, { "json", 0, NULL, "Print the result as one line of JSON on standard output", NULL },
            { "digits", 0, "FILE", "Data set to use (the digits that falaj brings)", NULL },
            { "epochs", 0, "N", "Passes over the training rows (60)", NULL }, { "keep-going", 0, NULL,
                    "Show the later steps even after one failed", NULL }),
      cmd_demo, "Show the main job on a running 'falaj dev'",
      "Creates a zone, a tenant and a user, uploads a data set, trains a model on it, serves the model, measures it on "
      "held-out images,\n"
      "shows isolation and residency, and verifies the audit log offline.", CMD_LOCAL },
    { NULL, "login", "", 0, 0,
      FLAGS({ "with-token", 0, NULL, "Read the token from standard input", NULL },
            { "name", 0, "PROFILE", "Name of the profile to write (default)", NULL }),
      cmd_login, "Sign in on a browser, or store an API token, in a profile",
      "Without --with-token it shows a code to enter on a browser, and waits.\n  falaj login --url https://falaj.example\n"
      "  falaj login --url https://falaj.example --with-token < token.txt", 0 },
    { NULL, "logout", "", 0, 0, FLAGS({ "revoke", 0, NULL, "Revoke the token as well", NULL }), cmd_logout,
      "Forget the profile in use and its token", NULL, CMD_LOCAL },
    { NULL, "status", "", 0, 0, NULL, cmd_status, "Show whether the API is up and as whom you talk to it", NULL, 0 },
    { NULL, "whoami", "", 0, 0, NULL, run_rest, "Show who you are and what you may do", NULL, 0, NULL, "GET", "/v1/me", NULL,
     NULL, "name:NAME tenant:TENANT roles:ROLES" },

    { "job", "submit", "[NAME] [-- WORD…]", 0, 1,
      FLAGS({ "file", 'f', "FILE", "Whole request as JSON; - is standard input", NULL },
            { "set", 0, "JSON", "Further members of spec, as a JSON object", NULL },
            { "spec", 0, "JSON", "The whole spec as a JSON object, or @FILE, instead of the flags above", NULL },
                { "zone", 0, "CODE", "Run in this zone only", NULL },
            { "pool", 0, "POOL", "Run in this pool of machines", NULL }, { "slots", 0, "N", "Slots wanted", NULL },
            { "nodes", 0, "N|MIN-MAX", "Machines at once, each with all that is asked of one (train, run)", NULL },
                { "gpus", 0, "N", "GPUs wanted", NULL },
            JOB_SIZE_FLAGS, { "priority", 0, "N", "Higher goes first", NULL }, { "max-attempts", 0, "N", "Times to try", NULL },
            { "retry", 0, "CAUSES", "Failures to try again: machine,memory,timeout,program,output", NULL },
            { "retry-max", 0, "N", "Further attempts at most (3)", NULL },
            { "retry-backoff", 0, "SECONDS", "Pause before the first of them (10), twice as long each time", NULL },
            { "max-runtime", 0, "SECONDS", "Longest time an attempt may run", NULL },
                { "wait", 0, NULL, "Wait for the end and follow the log", NULL },
            { "dependency", 0, "LIST", "Jobs to wait for: afterok:JOB[:JOB],afterany:JOB (also after, afternotok)", NULL },
            { "array", 0, "TASKS", "Many jobs: FIRST-LAST[:STEP][%MOST], such as 0-99%8; {{index}} in spec is each one's index",
                NULL },
            { "begin", 0, "TIME", "Not to start before (RFC 3339)", NULL },
            { "deadline", 0, "TIME", "To have started until then; a job that still waits ends as DEADLINE", NULL },
            { "dry-run", 0, NULL, "Only say whether it would be accepted and where it could run; exits 11 when it would be "
                                  "refused", NULL }),
      cmd_job_submit, "Submit a job", "  falaj job submit first --dataset digits --epochs 30 --wait\n"
      "  falaj job submit mine --kind run --pool host --script @train.py --outputs model=model.pt -- python3 /falaj/code/script",
      CMD_SPEC, NULL, NULL, NULL, NULL, NULL, JOB_COLUMNS },
    { "job", "list", "", 0, 0, FLAGS({ "state", 0, "STATE", "Only jobs in this state", JOB_STATES },
                                     { "kind", 0, "KIND", "Only jobs of this kind", job_kind_list + 1 },
            { "group", 0, "GROUP", "Only jobs that wait, run, ended well or failed", "waiting|running|done|failed" },
                JOB_FILTER_FLAGS, LIMIT_FLAG),
      run_rest, "List jobs", "  falaj job list --group failed --name llama --since 2026-01-31T00:00:00Z", CMD_LIST, NULL, "GET",
          "/v1/jobs",
      "state=state group=group kind=kind " JOB_FILTERS, NULL, JOB_COLUMNS },
    { "job", "counts", "", 0, 0, FLAGS({ "kind", 0, "KIND", "Only jobs of this kind", job_kind_list + 1 }, JOB_FILTER_FLAGS),
      cmd_job_counts, "Count jobs by state", NULL, 0, NULL, "GET", "/v1/jobs/counts", "kind=kind " JOB_FILTERS, NULL,
      "state:STATE group:GROUP jobs:JOBS is_exact:EXACT" },
    { "job", "get", "JOB", 1, 1, NULL, run_rest, "Show one job", NULL, 0, &job_noun, "GET", "/v1/jobs/{0}", NULL, NULL,
     JOB_COLUMNS " array_id:ARRAY" },
    { "job", "logs", "JOB", 1, 1, FLAGS({ "follow", 'f', NULL, "Go on until the job ends; Ctrl-C does not cancel the job", NULL },
            { "tail", 0, "N", "Only the newest N lines (at most 1000)", NULL }, { "errors", 0, NULL,
                                                                                 "Only lines that look like errors", NULL },
            { "grep", 0, "TEXT", "Only lines that contain this", NULL }),
      cmd_job_logs, "Print what a job wrote", NULL, 0, &job_noun },
    { "job", "events", "JOB", 1, 1, FLAGS({ "follow", 'f', NULL, "Go on until the job ends", NULL }), cmd_job_events,
     "Show the states a job went through", NULL, 0,
      &job_noun, "GET", "/v1/jobs/{0}/events", NULL, NULL,
          "version:VERSION state:STATE reason:REASON message:MESSAGE +fence:FENCE at:AT" },
#include "cli/table_job.def"
#include "cli/table_array.def"
#include "cli/table_dataset.def"
#include "cli/table_model.def"
#include "cli/table_deploy.def"

#include "cli/table_tenant.def"
#include "cli/table_zone.def"
    { "user", "create", "NAME", 1, 1, FLAGS({ "kind", 0, "KIND", "What it is", "person|service" },
            { "roles", 0, "A,B", "Roles to begin with", NULL }), run_rest, "Create a user", NULL, 0, NULL,
      "POST", "/v1/users", NULL, "name=@0 kind=kind *roles=roles", "user_id:ID name:NAME kind:KIND" },
    { "user", "list", "", 0, 0, FLAGS({ "kind", 0, "KIND", "Only people or only programs", "person|service" },
                                      { "role", 0, "ROLE", "Only users that hold this role, wherever", NULL },
            { "state", 0, "STATE", "Only in this state", "ACTIVE|DISABLED|DEACTIVATED" }, LIST_FLAGS("users")),
      run_rest, "List users", NULL, CMD_LIST, NULL, "GET", "/v1/users", "kind=kind role=role state=state " LIST_FILTERS, NULL,
      "user_id:ID name:NAME kind:KIND state:STATE roles:ROLES has_second_factor:FACTOR last_seen_at:SEEN" },
#include "cli/table_people.def"
#include "cli/table_notice.def"
    { "role", "grant", "USER ROLE", 2, 2, NULL, run_rest, "Grant a role to a user", NULL, 0, NULL, "POST", "/v1/role-bindings",
     NULL, "&user_id=@0 role=@1",
      "binding_id:ID user_id:USER role:ROLE" },
    { "role", "appoint", "USER ROLE", 2, 2,
      FLAGS({ "zone", 0, "CODE", "The zone, of a role held in a zone", NULL }, { "reason", 0, "TEXT",
          "Why; the approver reads it", NULL }),
      run_rest, "Ask for the appointment of an officer, operator or platform administrator",
      "Another person approves it. Who holds the role already is vouched for: its credentials end and it counts for four eyes.",
          0, NULL,
      "POST", "/v1/appointments", NULL, "&user_id=@0 role=@1 zone=zone reason=reason", APPROVAL_COLUMNS },
    { "role", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List who has which role", NULL, CMD_LIST, NULL, "GET",
     "/v1/role-bindings", NULL, NULL,
      "binding_id:ID user_id:USER role:ROLE +created_at:CREATED" },
    { "role", "revoke", "BINDING", 1, 1, NULL, run_rest, "Take a role back", NULL, 0, NULL, "DELETE", "/v1/role-bindings/{0}",
     NULL, NULL, "binding_id:ID" },
    { "token", "create", "NAME", 1, 1,
      FLAGS({ "user", 0, "USER", "Whose token (your own)", NULL }, { "days", 0, "N", "Days until it expires (30)", NULL },
            { "scopes", 0, "A,B", "Only these permissions", NULL }),
      run_rest, "Create an API token", "The token is shown this once.", 0, NULL, "POST", "/v1/api-tokens", NULL,
          "name=@0 &user_id=user #expires_in_days=days *scopes=scopes",
      "token_id:ID name:NAME token:TOKEN expires_at:EXPIRES" },
    { "token", "list", "", 0, 0, FLAGS({ "user", 0, "USER", "Only of this user", NULL },
                                       { "state", 0, "STATE", "Only in this state", "active|expired|revoked" },
            { "q", 0, "TEXT", "Only those whose name contains this (3 characters or more)", NULL },
            { "sort", 0, "ORDER", "Newest first, or what ends soonest", "-created_at|expires_at" }, LIMIT_FLAG),
      run_rest, "List API tokens", NULL, CMD_LIST, NULL, "GET", "/v1/api-tokens", "&user_id=user state=state q=q sort=sort", NULL,
      "token_id:ID name:NAME user_id:USER hint:HINT expires_at:EXPIRES revoked_at:REVOKED" },
    { "token", "revoke", "TOKEN_ID", 1, 1, NULL, run_rest, "Revoke an API token", NULL, 0, NULL, "DELETE", "/v1/api-tokens/{0}",
     NULL, NULL, "token_id:ID" },
#include "cli/table_audit.def"
    { NULL, "evidence", "", 0, 0, FLAGS({ "zone", 0, "CODE", "Only this zone", NULL },
            { "from", 0, "TIME", "Begin of the period", NULL }, { "to", 0, "TIME", "Its end", NULL }), run_rest,
      "Show the evidence report", "-o json or yaml shows all of it; GET /v1/evidence.html is for the printer.", 0, NULL, "GET",
          "/v1/evidence", "zone=zone from=from to=to", NULL,
      "from:FROM to:TO generated_at:MADE is_cut:CUT" },
    { "issuer", "create", "NAME ISSUER AUDIENCE", 3, 3,
      FLAGS({ "jwks-uri", 0, "URL", "Where its keys are fetched from", NULL }, { "jwks", 0, "JSON",
                                                                                "Or its keys, for good; @FILE", NULL },
            { "algorithms", 0, "A,B", "RS256, ES256 or both", NULL }, { "subjects", 0, "JSON",
                    "[{\"subject\": …, \"user_id\": \"usr_…\"}]; @FILE", NULL },
            { "single-use", 0, NULL, "Each token is good once, by its jti", NULL }),
      run_rest, "Believe the tokens of an outside issuer, for service accounts",
      "  falaj issuer create cluster https://issuer.example https://falaj.example/programs --algorithms RS256 --jwks-uri "
      "https://issuer.example/keys", 0, NULL,
      "POST", "/v1/issuers", NULL, "name=@0 issuer=@1 audience=@2 jwks_uri=jwks-uri %jwks=jwks *algorithms=algorithms "
                                   "%subjects=subjects ?single_use=single-use", ISSUER_COLUMNS },
    { "issuer", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List outside issuers", NULL, CMD_LIST, NULL, "GET",
     "/v1/issuers", NULL, NULL, ISSUER_COLUMNS },
    { "issuer", "get", "ISSUER", 1, 1, NULL, run_rest, "Show one outside issuer", NULL, 0, &issuer_noun, "GET",
     "/v1/issuers/{0}", NULL, NULL, ISSUER_COLUMNS },
    { "issuer", "delete", "ISSUER", 1, 1, NULL, run_rest, "Remove an outside issuer; nothing it signs is believed any more",
     NULL, 0, &issuer_noun, "DELETE",
      "/v1/issuers/{0}", NULL, NULL, "issuer_id:ID" },
    { "idp", "create", "NAME ISSUER CLIENT", 3, 3,
      FLAGS({ "secret", 0, "TEXT", "The client's secret (none: a public client)", NULL },
            { "scopes", 0, "A,B", "Scopes (openid,profile,email)", NULL },
            { "name-claim", 0, "CLAIM", "Names new users (preferred_username)", NULL },
                { "groups-claim", 0, "CLAIM", "Holds the groups (groups)", NULL },
            { "group-roles", 0, "JSON", "[{\"group\": …, \"role\": …}]; @FILE", NULL },
                { "create-users", 0, NULL, "Who signs in first becomes a user", NULL }),
      run_rest, "Let people sign in at an OpenID provider",
          "  falaj idp create staff https://login.example falaj --create-users", 0, NULL, "POST", "/v1/identity-providers", NULL,
      "name=@0 issuer=@1 client_id=@2 client_secret=secret *scopes=scopes name_claim=name-claim groups_claim=groups-claim "
      "%group_roles=group-roles ?create_users=create-users",
      IDP_COLUMNS },
    { "idp", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List OpenID providers", NULL, CMD_LIST, NULL, "GET",
     "/v1/identity-providers", NULL, NULL, IDP_COLUMNS },
    { "idp", "get", "PROVIDER", 1, 1, NULL, run_rest, "Show one OpenID provider", NULL, 0, &idp_noun, "GET",
     "/v1/identity-providers/{0}", NULL, NULL, IDP_COLUMNS },
    { "idp", "link", "PROVIDER SUBJECT USER", 3, 3, NULL, run_rest, "Say who a person of the provider is here", NULL, 0,
     &idp_noun, "POST",
      "/v1/identity-providers/{0}/links", NULL, "subject=@1 &user_id=@2", "provider_id:ID" },
    { "idp", "test", "PROVIDER", 1, 1, NULL, run_rest, "Ask a provider for its metadata and keys, as a sign-in would",
      "Ends with 1 when they cannot be used.", CMD_TEST, &idp_noun, "POST",
      "/v1/identity-providers/{0}/test", NULL, NULL, "ok:OK issuer:ISSUER keys:KEYS redirect_uri:REDIRECT problem:PROBLEM" },
    { "idp", "delete", "PROVIDER", 1, 1, NULL, run_rest, "Remove a provider; the users it made stay", NULL, 0, &idp_noun,
     "DELETE", "/v1/identity-providers/{0}", NULL, NULL,
      "provider_id:ID" },
#include "cli/table_quota.def"
    CLASS_COMMANDS,
    QUEUE_COMMANDS,
#include "cli/table_secret.def"
#include "cli/table_inside.def"
#include "cli/table_legal_clock.def"
#include "cli/table_environment.def"
    { NULL, "usage", "[FILE]", 0, 1,
      FLAGS({ "days", 0, "N", "Days to look back (30)", NULL }, { "from", 0, "TIME", "Attempts that ended at or after", NULL },
            { "to", 0, "TIME", "Attempts that ended before", NULL },
            { "by", 0, "A,B", "What to sum by: day, project, queue, flavor, zone, pool (day,zone,pool)", NULL },
                { "csv", 0, NULL, "Every ended attempt as CSV, not sums", NULL }),
      cmd_usage, "Show what was used and what it cost",
              "With --csv to FILE, or to standard output.\n  falaj usage --by project,flavor\n  falaj usage --csv --from "
              "2026-01-01T00:00:00Z january.csv", 0, NULL, "GET",
      "/v1/usage", "days=days from=from to=to by=by", NULL,
      "day:DAY +project_id:PROJECT +queue:QUEUE +flavor:FLAVOR zone:ZONE pool:POOL attempts:ATTEMPTS slot_ms:SLOT_MS "
      "gpu_ms:GPU_MS +energy_mj:MILLIJOULES amount_minor:AMOUNT currency:CURRENCY" },
    { "system", "health", "", 0, 0, NULL, cmd_system_health, "Show how each part of the platform is",
     "For the platform's staff. Ends with 1 when a part is down.", 0, NULL, "GET",
      "/v1/system/health", NULL, NULL, "name:PART zone:ZONE state:STATE latency_ms:MS version:VERSION detail:DETAIL" },
#include "cli/table_node.def"
#include "cli/table_reservation.def"
#include "cli/table_engine.def"

#include "cli/table_key.def"

    { NULL, "api", "METHOD PATH", 2, 2, FLAGS({ "data", 'd', "JSON", "Body; @FILE reads a file, @- standard input", NULL },
                                              { "type", 0, "TYPE", "Content type of the body", NULL }), cmd_api,
      "Make any call of the API", "  falaj api GET /v1/jobs?page_size=5", 0 },
    { NULL, "doctor", "", 0, 0, FLAGS(DEV_FLAGS, { "etc", 0, "DIR",
            "A server's folder of settings (/etc/falaj where no falaj dev runs)", NULL }), cmd_doctor,
      "Check this machine, its programs and a running platform",
      "Programs and processes, disks, certificates, clock, backups, audit anchors, the schema, versions of all programs, the "
      "platform's\n"
      "parts and invariants. On a server run it as root with FALAJ_URL and FALAJ_TOKEN of a platform administrator. Each line "
      "says what to\n"
      "do; ends with 1 when a check failed.\n  falaj doctor -o json | jq '.data[]|select(.result!=\"ok\")'", CMD_LOCAL },
    { "support", "bundle", "", 0, 0,
      FLAGS(DEV_FLAGS, { "etc", 0, "DIR", "A server's folder of settings", NULL },
            { "file", 'f', "FILE", "Write it here (standard output)", NULL },
            { "logs", 0, "DIR", "Folder of the daemons' logs, whose events are counted", NULL }),
      cmd_support, "Gather what a maintainer needs to see, without secrets or personal data",
      "Results of checks, settings that are numbers or choices, states and numbers of the platform's parts, counts of log "
      "events. No names,\n"
      "addresses, paths, ids, messages or lines of logs. Read it before you send it.\n  falaj support bundle -f bundle.json",
          CMD_LOCAL },
    { NULL, "__complete", "[WORD…]", 0, CLI_ARGS_MAX, NULL, cmd_complete,
     "Print what the last word could be; for the completion scripts", NULL, CMD_LOCAL | CMD_HIDDEN },
    { NULL, "completion", "SHELL", 1, 1, NULL, cmd_completion, "Print a completion script for bash, zsh or fish",
     "  source <(falaj completion bash)", CMD_LOCAL },
    { NULL, "man", "DIR", 1, 1, NULL, cmd_man, "Write the manual pages into a folder", NULL, CMD_LOCAL },
    { "config", "view", "", 0, 0, NULL, cmd_config_view, "Show profiles, secrets masked", NULL, CMD_LOCAL },
    { NULL, "version", "", 0, 0, NULL, cmd_version, "Show the version", NULL, CMD_LOCAL },
    { NULL, "help", "[COMMAND|exit-codes]", 0, 2, NULL, cmd_help, "Show help on a command, or the exit codes", NULL, CMD_LOCAL },
};
const size_t command_count = sizeof(command_table) / sizeof(command_table[0]);

const struct noun *noun_by_id(struct str id)
{
    for (size_t i = 0; i < command_count; i++) {
        if (command_table[i].noun && str_eq_c(id, command_table[i].noun->id))
            return command_table[i].noun;
    }
    return NULL;
}
