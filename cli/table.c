/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - every command of falaj, one row each; see command.h for the small languages of a row. */
#include "cli/table_size.h"
#include "cli/command.h"
#include "core/wire/job_type.h"

#define FLAGS(...) (const struct cli_flag[]){ __VA_ARGS__, { NULL } }
#define LIMIT_FLAG { "limit", 0, "N", "Most items to show; 0 shows all, page by page", NULL }

/* Those of scheduler/jobs/job_state.def, which this program does not link; a unit test holds the two together. */
#define JOB_STATES "PENDING|HELD|ADMITTED|STARTING|RUNNING|PREEMPTING|COMPLETED|FAILED|CANCELLED|TIMEOUT|DEADLINE|" \
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
    { "price", "What an hour and a kWh cost on each flavor" },
    { "class", "Priority classes: which jobs of a tenant go first" },
    { "queue", "Queues that the tenant declared, and their shares" },
    { "node", "Worker machines" },
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

static const struct noun job_noun = { "job", "job_", "/v1/jobs", "job_id" };
static const struct noun dataset_noun = { "data set", "dst_", "/v1/datasets", "dataset_id" };
static const struct noun model_noun = { "model", "mdl_", "/v1/models", "model_id" };
static const struct noun deploy_noun = { "deployment", "dpl_", "/v1/deployments", "deployment_id" };
static const struct noun tenant_noun = { "tenant", "tnt_", "/v1/tenants", "tenant_id" };
static const struct noun project_noun = { "project", "prj_", "/v1/projects", "project_id" };
static const struct noun queue_noun = { "queue", "que_", "/v1/queues", "queue_id" };
static const struct noun budget_noun = { "budget", "bdg_", "/v1/budgets", "budget_id" };
static const struct noun issuer_noun = { "issuer", "iss_", "/v1/issuers", "issuer_id" };
static const struct noun idp_noun = { "provider", "idp_", "/v1/identity-providers", "provider_id" };
static const struct noun user_noun = { "user", "usr_", "/v1/users", "user_id" };
static const struct noun group_noun = { "group", "grp_", "/v1/groups", "group_id" };
static const struct noun node_noun = { "node", "nod_", "/v1/nodes", "node_id" };

#define JOB_COLUMNS "job_id:ID name:NAME kind:KIND state:STATE reason:REASON +zone:ZONE +pool:POOL +slots:SLOTS +priority:PRIORITY submitted_at:SUBMITTED"
#define JOB_FILTER_FLAGS \
    { "project", 0, "PROJECT", "Only jobs of this project (its id)", NULL }, { "created-by", 0, "USER", "Only jobs that this user submitted (its id)", NULL }, \
    { "zone", 0, "CODE", "Only jobs that are pinned to this zone", NULL }, { "pool", 0, "POOL", "Only jobs of this pool", NULL }, \
    { "name", 0, "TEXT", "Only jobs whose name contains this (3 characters or more)", NULL }, \
    { "since", 0, "TIME", "Only jobs submitted at this time or later", NULL }, { "until", 0, "TIME", "Only jobs submitted before this time", NULL }
#define JOB_FILTERS "project_id=project created_by=created-by zone=zone pool=pool q=name submitted_after=since submitted_before=until"
#define LIST_FLAGS(things) \
    { "q", 0, "TEXT", "Only " things " whose name contains this (3 characters or more)", NULL }, \
    { "sort", 0, "ORDER", "Newest first, or by name; - is downwards", "-created|created|name|-name" }, LIMIT_FLAG
#define LIST_OF_PROJECT_FLAGS(things) \
    { "project", 0, "PROJECT", "Only " things " of this project (its id)", NULL }, { "created-by", 0, "USER", "Only " things " that this user made (its id)", NULL }
#define LIST_FILTERS "q=q sort=sort"
#define LIST_OF_PROJECT_FILTERS "project_id=project created_by=created-by"
#define NAMES "name:NAME +display_name:DISPLAY_NAME +display_name_ar:ARABIC "
#define DATASET_COLUMNS \
    "dataset_id:ID " NAMES "latest_version:VERSION data_class:CLASS +label_column:LABEL +classes:CLASSES created_at:CREATED"
#define MODEL_COLUMNS "model_id:ID " NAMES "latest_version:VERSION +description:DESCRIPTION created_at:CREATED"
#define SHOWN_NAME_FLAGS { "display-name", 0, "TEXT", "Name for people", NULL }, { "display-name-ar", 0, "TEXT", "In Arabic", NULL }
#define SHOWN_NAME_BODY "display_name=display-name display_name_ar=display-name-ar"
#define DELETED_COLUMNS "objects:OBJECTS stored_bytes:BYTES"
#define DELETE_MORE \
    "The keys of its content are forgotten: nothing brings it back. Asks first on a terminal; elsewhere it needs --yes.\n" \
    "Refused under a legal hold, and while deployments, unfinished jobs or uploads use it: the answer names them."
#define DEPLOY_COLUMNS \
    "deployment_id:ID name:NAME state:STATE ready:READY model_version:VERSION roll:ROLL +next_version:NEXT +roll_error:WHY " \
    "+job_id:JOB +endpoint:ENDPOINT created_at:CREATED"
#define TENANT_COLUMNS "tenant_id:ID " NAMES "state:STATE home_zone:HOME +allowed_zones:ZONES created_at:CREATED"
#define PROJECT_COLUMNS "project_id:ID " NAMES "state:STATE created_at:CREATED"
#define APPROVAL_COLUMNS "approval_id:ID kind:KIND subject:SUBJECT state:STATE given:GIVEN needed:NEEDED +reason:REASON expires_at:EXPIRES"
#define KEY_COLUMNS "zone:ZONE primary_version:PRIMARY versions:VERSIONS min_version:MIN tier:TIER provider:PROVIDER data_keys:DATA_KEYS advice:ADVICE +wraps:WRAPS rotated_at:ROTATED"
#define KEY_VERSION_COLUMNS "key_version:VERSION state:STATE origin:ORIGIN tier:TIER root_version:ROOT data_keys:DATA_KEYS +wraps:WRAPS created_at:CREATED destroy_after:DESTROY_AFTER"
#define REWRAP_COLUMNS "rewrap_id:ID kind:KIND to_version:TO state:STATE done:DONE total:TOTAL failed:FAILED started_at:STARTED"
#define KEY_APPROVAL_COLUMNS "approval_id:ID kind:KIND subject:SUBJECT state:STATE given:GIVEN needed:NEEDED expires_at:EXPIRES"
#define NODE_COLUMNS "node_id:ID name:NAME zone:ZONE pool:POOL state:STATE slots:SLOTS used_slots:USED running:RUNNING +gpus:GPUS +used_gpus:GPUS_USED +backend:BACKEND +version:VERSION +reason:REASON +cert_ends_at:CERTIFICATE last_seen_at:SEEN"
#define RULE_COLUMNS "rule_id:ID place:PLACE project_id:PROJECT queue:QUEUE resource:RESOURCE flavor:FLAVOR zone:ZONE nominal:NOMINAL used:USED weight:WEIGHT"
#define RULE_FLAGS \
    { "borrowing-limit", 0, "N", "Most it may take of what others do not use (no limit)", NULL }, \
    { "lending-limit", 0, "N", "Most that others may take of it (all)", NULL }, { "weight", 0, "N", "Its part when there is not enough for all (1000)", NULL }
#define RULE_NUMBERS "#borrowing_limit=borrowing-limit #lending_limit=lending-limit #weight=weight"
#define RULE_PUT "The whole rule is set: a limit that is not given is taken away, and a weight that is not given is 1000."
#define BUDGET_COLUMNS "budget_id:ID name:NAME measure:MEASURE amount:AMOUNT currency:CURRENCY period:PERIOD used:USED forecast:FORECAST state:STATE"
#define NODE_MOVED_COLUMNS "node_id:ID zone:ZONE state:STATE jobs_running:JOBS reason:REASON"
#define REASON_FLAG { "reason", 0, "TEXT", "Why; shown with the machine", NULL }
#define USER_COLUMNS "user_id:ID name:NAME kind:KIND state:STATE roles:ROLES has_second_factor:FACTOR last_seen_at:SEEN"
#define GROUP_COLUMNS "group_id:ID name:NAME role:ROLE members:MEMBERS"
#define UPLOAD_COLUMNS "upload_id:ID dataset_id:DATASET state:STATE offset:HAVE size_bytes:BYTES parts:PARTS expires_at:EXPIRES"
#define ISSUER_COLUMNS "issuer_id:ID name:NAME issuer:ISSUER audience:AUDIENCE state:STATE +single_use:ONCE +jwks_uri:KEYS created_at:CREATED"
#define IDP_COLUMNS "provider_id:ID name:NAME issuer:ISSUER client_id:CLIENT state:STATE +create_users:CREATES +groups_claim:GROUPS created_at:CREATED"
#define HOLD_COLUMNS "hold_id:ID state:STATE reason:REASON subject_id:USER +about_tenant:TENANT +from_at:FROM +until_at:UNTIL created_at:CREATED"
#define KEEP_COLUMNS "class:CLASS zone:ZONE keep_days:DAYS set_at:SET"
#define AUDIT_WANT "from=from to=until actor=actor action=action resource=resource outcome=outcome request_id=request"
#define AUDIT_WANT_FLAGS \
    { "from", 0, "TIME", "Only events from this time on (RFC 3339)", NULL }, { "until", 0, "TIME", "Only events before this time", NULL }, \
    { "actor", 0, "WHO", "Only acts of this user (usr_…), machine (nod_…) or kind of actor", NULL }, \
    { "action", 0, "ACTION", "Only this action; with a dot at its end all that begin so", NULL }, \
    { "resource", 0, "WHAT", "Only about this resource or kind", NULL }, { "outcome", 0, "OUTCOME", "Only acts that ended so", "success|denied|failed" }, \
    { "request", 0, "ID", "Only what this request did", NULL }
#define DEV_FLAGS \
    { "data", 0, "DIR", "Data folder ($XDG_DATA_HOME/falaj; root: /var/lib/falaj-dev)", NULL }

const struct command command_table[] = {
    { NULL, "dev", "", 0, 0,
      FLAGS(DEV_FLAGS, { "ephemeral", 0, NULL, "A folder that is removed at the end", NULL }, { "zone", 0, "CODE[,CODE]", "Residency zones; each has a falaj-keyd and a worker of its own (ae-dxb-1)", NULL },
            { "port", 0, "N", "Port of the API; 0: any free one (8080, or the next free)", NULL },
            { "slots", 0, "N", "Leases the worker runs at once (as many as cores, at least 8)", NULL },
            { "hsm", 0, NULL, "The zone's keys in a SoftHSM token instead of a file (new data folder)", NULL },
            { "console", 0, "DIR", "Serve the web console that was built into this folder (the one beside the programs)", NULL },
            { "no-console", 0, NULL, "Serve no web console", NULL },
            { "json-ready", 0, NULL, "Print one line of JSON when ready", NULL },
            { "detach", 0, NULL, "Return when ready and leave it running", NULL }, { "foreground", 0, NULL, "Stay until interrupted (this is the default)", NULL }),
      cmd_dev, "Run the whole platform on this machine",
      "PostgreSQL, Redis, falaj-keyd, falaj-api, falaj-scheduler and one falaj-worker, each a process of its own, on loopback and Unix\n"
      "sockets. Everything lies in one data folder; the logs are in its folder log.", CMD_LOCAL },
    { "dev", "status", "", 0, 0, FLAGS(DEV_FLAGS), cmd_dev, "Show whether the platform of a data folder runs", NULL, CMD_LOCAL },
    { "dev", "stop", "", 0, 0, FLAGS(DEV_FLAGS), cmd_dev, "Stop the platform of a data folder", NULL, CMD_LOCAL },
    { "dev", "remove", "", 0, 0, FLAGS(DEV_FLAGS), cmd_dev, "Stop the platform and remove its data folder", NULL, CMD_LOCAL },
    { "keys", "init", "", 0, 0,
      FLAGS({ "zone", 0, "CODE", "Residency zone whose keys are made", NULL }, { "module", 0, "FILE", "PKCS#11 module of the token", NULL },
            { "token-label", 0, "LABEL", "Label of the token", NULL },
            { "pin-file", 0, "FILE", "0600 file with the PIN (the systemd credential falaj-pin)", NULL },
            { "so-pin-file", 0, "FILE", "0600 file with the PIN of the security officer: initialise the token if it is blank", NULL }),
      cmd_keys_init, "Make the keys of a zone in a PKCS#11 token, and show what is there",
      "Runs falaj-keyd --init-token: root key version 1, signing key, and import key, each only when there is none yet. A token that is in\n"
      "use is never initialised again. Run it as the account of falaj-keyd.\n"
      "  falaj keys init --zone ae-dxb-1 --module /usr/lib/softhsm/libsofthsm2.so --token-label falaj --pin-file pin --so-pin-file so-pin", CMD_LOCAL },
    { NULL, "demo", "", 0, 0,
      FLAGS(DEV_FLAGS, { "json", 0, NULL, "Print the result as one line of JSON on standard output", NULL }, { "digits", 0, "FILE", "Data set to use (the digits that falaj brings)", NULL },
            { "epochs", 0, "N", "Passes over the training rows (60)", NULL }, { "keep-going", 0, NULL, "Show the later steps even after one failed", NULL }),
      cmd_demo, "Show the main job on a running 'falaj dev'",
      "Creates a zone, a tenant and a user, uploads a data set, trains a model on it, serves the model, measures it on held-out images,\n"
      "shows isolation and residency, and verifies the audit log offline.", CMD_LOCAL },
    { NULL, "login", "", 0, 0,
      FLAGS({ "with-token", 0, NULL, "Read the token from standard input", NULL }, { "name", 0, "PROFILE", "Name of the profile to write (default)", NULL }),
      cmd_login, "Sign in on a browser, or store an API token, in a profile",
      "Without --with-token it shows a code to enter on a browser, and waits.\n  falaj login --url https://falaj.example\n"
      "  falaj login --url https://falaj.example --with-token < token.txt", 0 },
    { NULL, "logout", "", 0, 0, FLAGS({ "revoke", 0, NULL, "Revoke the token as well", NULL }), cmd_logout,
      "Forget the profile in use and its token", NULL, CMD_LOCAL },
    { NULL, "status", "", 0, 0, NULL, cmd_status, "Show whether the API is up and as whom you talk to it", NULL, 0 },
    { NULL, "whoami", "", 0, 0, NULL, run_rest, "Show who you are and what you may do", NULL, 0, NULL, "GET", "/v1/me", NULL, NULL, "name:NAME tenant:TENANT roles:ROLES" },

    { "job", "submit", "[NAME] [-- WORD…]", 0, 1,
      FLAGS({ "file", 'f', "FILE", "Whole request as JSON; - is standard input", NULL },
            { "set", 0, "JSON", "Further members of spec, as a JSON object", NULL },
            { "spec", 0, "JSON", "The whole spec as a JSON object, or @FILE, instead of the flags above", NULL }, { "zone", 0, "CODE", "Run in this zone only", NULL },
            { "pool", 0, "POOL", "Run in this pool of machines", NULL }, { "slots", 0, "N", "Slots wanted", NULL }, { "gpus", 0, "N", "GPUs wanted", NULL },
            JOB_SIZE_FLAGS, { "priority", 0, "N", "Higher goes first", NULL }, { "max-attempts", 0, "N", "Times to try", NULL },
            { "max-runtime", 0, "SECONDS", "Longest time an attempt may run", NULL }, { "wait", 0, NULL, "Wait for the end and follow the log", NULL },
            { "dependency", 0, "LIST", "Jobs to wait for: afterok:JOB[:JOB],afterany:JOB (also after, afternotok)", NULL },
            { "begin", 0, "TIME", "Not to start before (RFC 3339)", NULL },
            { "deadline", 0, "TIME", "To have started until then; a job that still waits ends as DEADLINE", NULL },
            { "dry-run", 0, NULL, "Only say whether it would be accepted and where it could run; exits 11 when it would be refused", NULL }),
      cmd_job_submit, "Submit a job", "  falaj job submit first --dataset digits --epochs 30 --wait\n"
      "  falaj job submit mine --kind run --pool host --script @train.py --outputs model=model.pt -- python3 /falaj/code/script",
      CMD_SPEC, NULL, NULL, NULL, NULL, NULL, JOB_COLUMNS },
    { "job", "list", "", 0, 0, FLAGS({ "state", 0, "STATE", "Only jobs in this state", JOB_STATES }, { "kind", 0, "KIND", "Only jobs of this kind", job_kind_list + 1 },
            { "group", 0, "GROUP", "Only jobs that wait, run, ended well or failed", "waiting|running|done|failed" }, JOB_FILTER_FLAGS, LIMIT_FLAG),
      run_rest, "List jobs", "  falaj job list --group failed --name llama --since 2026-01-31T00:00:00Z", CMD_LIST, NULL, "GET", "/v1/jobs",
      "state=state group=group kind=kind " JOB_FILTERS, NULL, JOB_COLUMNS },
    { "job", "counts", "", 0, 0, FLAGS({ "kind", 0, "KIND", "Only jobs of this kind", job_kind_list + 1 }, JOB_FILTER_FLAGS),
      cmd_job_counts, "Count jobs by state", NULL, 0, NULL, "GET", "/v1/jobs/counts", "kind=kind " JOB_FILTERS, NULL,
      "state:STATE group:GROUP jobs:JOBS is_exact:EXACT" },
    { "job", "get", "JOB", 1, 1, NULL, run_rest, "Show one job", NULL, 0, &job_noun, "GET", "/v1/jobs/{0}", NULL, NULL, JOB_COLUMNS },
    { "job", "logs", "JOB", 1, 1, FLAGS({ "follow", 'f', NULL, "Go on until the job ends; Ctrl-C does not cancel the job", NULL },
            { "tail", 0, "N", "Only the newest N lines (at most 1000)", NULL }, { "errors", 0, NULL, "Only lines that look like errors", NULL },
            { "grep", 0, "TEXT", "Only lines that contain this", NULL }),
      cmd_job_logs, "Print what a job wrote", NULL, 0, &job_noun },
    { "job", "events", "JOB", 1, 1, FLAGS({ "follow", 'f', NULL, "Go on until the job ends", NULL }), cmd_job_events, "Show the states a job went through", NULL, 0,
      &job_noun, "GET", "/v1/jobs/{0}/events", NULL, NULL, "version:VERSION state:STATE reason:REASON message:MESSAGE +fence:FENCE at:AT" },
#include "cli/table_job.def"
#include "cli/table_dataset.def"
#include "cli/table_model.def"
#include "cli/table_deploy.def"

    { "tenant", "create", "NAME", 1, 1,
      FLAGS({ "zone", 0, "CODE", "Home zone", NULL }, { "allowed-zones", 0, "A,B", "Zones its data may be in (the home zone)", NULL },
            SHOWN_NAME_FLAGS, { "admin-name", 0, "NAME", "Name of its first user", NULL }),
      run_rest, "Create a tenant and its first administrator", "The answer holds the administrator's token, shown this once.", 0, NULL, "POST", "/v1/tenants", NULL,
      "name=@0 home_zone=zone *allowed_zones=allowed-zones " SHOWN_NAME_BODY " admin_name=admin-name", TENANT_COLUMNS },
    { "tenant", "list", "", 0, 0, FLAGS({ "state", 0, "STATE", "Only in this state", "ACTIVE|SUSPENDED|DELETING" }, LIST_FLAGS("tenants")), run_rest, "List tenants", NULL,
      CMD_LIST, NULL, "GET", "/v1/tenants", "state=state " LIST_FILTERS, NULL, TENANT_COLUMNS },
    { "tenant", "get", "TENANT", 1, 1, NULL, run_rest, "Show one tenant", NULL, 0, &tenant_noun, "GET", "/v1/tenants/{0}", NULL, NULL, TENANT_COLUMNS },
    { "tenant", "suspend", "TENANT", 1, 1, FLAGS({ "running", 0, "WHAT", "What becomes of its jobs (finish)", "finish|stop" }, { "reason", 0, "TEXT", "Why", NULL }), run_rest,
      "Suspend a tenant", "Its people are refused at once, nothing of it starts.", 0, &tenant_noun, "POST", "/v1/tenants/{0}/suspend", NULL, "running=running reason=reason", TENANT_COLUMNS },
    { "tenant", "resume", "TENANT", 1, 1, NULL, run_rest, "Resume a suspended tenant", NULL, 0, &tenant_noun, "POST", "/v1/tenants/{0}/resume", NULL, "", TENANT_COLUMNS },
    { "tenant", "delete", "TENANT", 1, 1, FLAGS({ "reason", 0, "TEXT", "Why", NULL }), run_rest, "Ask for the deletion of a tenant",
      "Two compliance officers approve it; after the days of grace its keys are destroyed and its data removed.", 0, &tenant_noun, "POST", "/v1/tenants/{0}/delete", NULL,
      "reason=reason", APPROVAL_COLUMNS },
    { "tenant", "officer", "TENANT USER", 2, 2, FLAGS({ "reason", 0, "TEXT", "Why; the approver reads it", NULL }), run_rest,
      "Ask for the appointment of a tenant's first compliance officer",
          "USER is a person of that tenant; another of the platform approves it.",
      0, &tenant_noun, "POST", "/v1/tenants/{0}/officers", NULL, "user_id=@1 reason=reason", APPROVAL_COLUMNS },
    { "tenant", "undelete", "TENANT", 1, 1, NULL, run_rest, "Call the deletion of a tenant off", NULL, 0, &tenant_noun, "POST", "/v1/tenants/{0}/undelete", NULL, "", TENANT_COLUMNS },
    { "project", "create", "NAME", 1, 1, FLAGS(SHOWN_NAME_FLAGS), run_rest, "Create a project", NULL, 0, NULL, "POST",
      "/v1/projects", NULL, "name=@0 " SHOWN_NAME_BODY, PROJECT_COLUMNS },
    { "project", "list", "", 0, 0, FLAGS({ "state", 0, "STATE", "Only in this state", "ACTIVE|CLOSED" }, LIST_FLAGS("projects")), run_rest, "List projects", NULL, CMD_LIST, NULL,
      "GET", "/v1/projects", "state=state " LIST_FILTERS, NULL, PROJECT_COLUMNS },
    { "project", "get", "PROJECT", 1, 1, NULL, run_rest, "Show one project", NULL, 0, &project_noun, "GET", "/v1/projects/{0}", NULL, NULL, PROJECT_COLUMNS },
    { "project", "close", "PROJECT", 1, 1, NULL, run_rest, "Close a project: nothing new begins in it", NULL, 0, &project_noun, "POST", "/v1/projects/{0}/close", NULL, "",
      PROJECT_COLUMNS },
    { "approval", "list", "", 0, 0, FLAGS(LIMIT_FLAG, { "state", 0, "STATE", "Only requests in this state", NULL }), run_rest, "List requests that wait for approval", NULL, CMD_LIST, NULL,
      "GET", "/v1/approvals", "state=state", NULL, APPROVAL_COLUMNS },
    { "approval", "get", "APPROVAL", 1, 1, NULL, run_rest, "Show one request with what exactly it asks for", NULL, 0, NULL, "GET", "/v1/approvals/{0}", NULL, NULL, APPROVAL_COLUMNS },
    { "approval", "approve", "APPROVAL", 1, 1, FLAGS({ "note", 0, "TEXT", "Why", NULL }), run_rest, "Approve a request of somebody else", "The last approval needed carries it out.", 0, NULL,
      "POST", "/v1/approvals/{0}/approve", NULL, "note=note", APPROVAL_COLUMNS },
    { "approval", "refuse", "APPROVAL", 1, 1, FLAGS({ "note", 0, "TEXT", "Why", NULL }), run_rest, "Refuse a request, or withdraw an own one", NULL, 0, NULL, "POST",
      "/v1/approvals/{0}/refuse", NULL, "note=note", APPROVAL_COLUMNS },
    { "access", "explain", "", 0, 0,
      FLAGS({ "user", 0, "USER", "Who would act (yourself)", NULL }, { "act", 0, "WHAT", "A permission or an operation", NULL }, { "project", 0, "PROJECT", "In which project", NULL },
            { "zone", 0, "CODE", "In which zone", NULL }, { "ip", 0, "ADDRESS", "From which address", NULL }),
      run_rest, "Why somebody may or may not do something", "  falaj access explain --user usr_… --act job:submit", 0, NULL, "POST", "/v1/access/explain", NULL,
      "&user_id=user act=act project_id=project zone=zone source_ip=ip", "allowed:ALLOWED permission:PERMISSION rule:RULE missing:MISSING" },
    { "zone", "create", "CODE NAME COUNTRY", 3, 3,
      FLAGS({ "laws", 0, "A,B", "Known laws that hold there, as `falaj zone templates` lists them", NULL },
            { "regimes", 0, "A,B", "Legal regimes that hold there", NULL }),
      run_rest, "Create a residency zone",
      "  falaj zone create ae-dxb-1 \"Dubai 1\" AE --laws uae-pdpl,uae-health-ict\n"
      "Confirm each clause with counsel: `falaj zone law CODE -o yaml`.",
      0, NULL, "POST", "/v1/zones", NULL, "code=@0 name=@1 country=@2 *templates=laws *legal_regimes=regimes",
      "code:CODE name:NAME country:COUNTRY" },
    { "zone", "templates", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List known laws that a zone's law may begin with",
      "-o yaml shows rules and time limits with their clauses, in English and Arabic.", CMD_LIST, NULL, "GET", "/v1/residency/templates",
      NULL, NULL, "template_id:ID name:LAW data_classes:CLASSES +regulator:REGULATOR" },
    { "zone", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List residency zones", NULL, CMD_LIST, NULL, "GET", "/v1/zones", NULL, NULL,
      "code:CODE name:NAME country:COUNTRY legal_regimes:REGIMES" },
    { "user", "create", "NAME", 1, 1, FLAGS({ "kind", 0, "KIND", "What it is", "person|service" }, { "roles", 0, "A,B", "Roles to begin with", NULL }), run_rest, "Create a user", NULL, 0, NULL,
      "POST", "/v1/users", NULL, "name=@0 kind=kind *roles=roles", "user_id:ID name:NAME kind:KIND" },
    { "user", "list", "", 0, 0, FLAGS({ "kind", 0, "KIND", "Only people or only programs", "person|service" }, { "role", 0, "ROLE", "Only users that hold this role, wherever", NULL },
            { "state", 0, "STATE", "Only in this state", "ACTIVE|DISABLED|DEACTIVATED" }, LIST_FLAGS("users")),
      run_rest, "List users", NULL, CMD_LIST, NULL, "GET", "/v1/users", "kind=kind role=role state=state " LIST_FILTERS, NULL,
      "user_id:ID name:NAME kind:KIND state:STATE roles:ROLES has_second_factor:FACTOR last_seen_at:SEEN" },
#include "cli/table_people.def"
    { "role", "grant", "USER ROLE", 2, 2, NULL, run_rest, "Grant a role to a user", NULL, 0, NULL, "POST", "/v1/role-bindings", NULL, "&user_id=@0 role=@1",
      "binding_id:ID user_id:USER role:ROLE" },
    { "role", "appoint", "USER ROLE", 2, 2,
      FLAGS({ "zone", 0, "CODE", "The zone, of a role held in a zone", NULL }, { "reason", 0, "TEXT",
          "Why; the approver reads it", NULL }),
      run_rest, "Ask for the appointment of an officer, operator or platform administrator",
      "Another person approves it. Who holds the role already is vouched for: its credentials end and it counts for four eyes.",
          0, NULL,
      "POST", "/v1/appointments", NULL, "user_id=@0 role=@1 zone=zone reason=reason", APPROVAL_COLUMNS },
    { "role", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List who has which role", NULL, CMD_LIST, NULL, "GET", "/v1/role-bindings", NULL, NULL,
      "binding_id:ID user_id:USER role:ROLE +created_at:CREATED" },
    { "role", "revoke", "BINDING", 1, 1, NULL, run_rest, "Take a role back", NULL, 0, NULL, "DELETE", "/v1/role-bindings/{0}", NULL, NULL, "binding_id:ID" },
    { "token", "create", "NAME", 1, 1,
      FLAGS({ "user", 0, "USER", "Whose token (your own)", NULL }, { "days", 0, "N", "Days until it expires (30)", NULL }, { "scopes", 0, "A,B", "Only these permissions", NULL }),
      run_rest, "Create an API token", "The token is shown this once.", 0, NULL, "POST", "/v1/api-tokens", NULL, "name=@0 &user_id=user #expires_in_days=days *scopes=scopes",
      "token_id:ID name:NAME token:TOKEN expires_at:EXPIRES" },
    { "token", "list", "", 0, 0, FLAGS({ "user", 0, "USER", "Only of this user (its id)", NULL }, { "state", 0, "STATE", "Only in this state", "active|expired|revoked" },
            { "q", 0, "TEXT", "Only those whose name contains this (3 characters or more)", NULL },
            { "sort", 0, "ORDER", "Newest first, or what ends soonest", "-created_at|expires_at" }, LIMIT_FLAG),
      run_rest, "List API tokens", NULL, CMD_LIST, NULL, "GET", "/v1/api-tokens", "user_id=user state=state q=q sort=sort", NULL,
      "token_id:ID name:NAME user_id:USER hint:HINT expires_at:EXPIRES revoked_at:REVOKED" },
    { "token", "revoke", "TOKEN_ID", 1, 1, NULL, run_rest, "Revoke an API token", NULL, 0, NULL, "DELETE", "/v1/api-tokens/{0}", NULL, NULL, "token_id:ID" },
    { "zone", "show", "ZONE", 1, 1, NULL, run_rest, "Show a zone", NULL, 0, NULL, "GET", "/v1/zones/{0}", NULL, NULL, "code:ZONE name:NAME country:COUNTRY law_version:LAW" },
    { "zone", "law", "ZONE", 1, 1, FLAGS({ "version", 0, "N", "An older version", NULL }), run_rest, "Show the law of a zone", "-o yaml shows rules, clocks and sources.", 0, NULL, "GET",
      "/v1/zones/{0}/law", "version=version", NULL, "zone:ZONE version:VERSION country:COUNTRY regulator:REGULATOR provider:PROVIDER" },
    { "zone", "explain", "CLASS ZONE", 2, 2, FLAGS({ "purpose", 0, "WORD", "What for: training, serving, …", NULL }, { "act", 0, "ACT", "What would be done", "submit|place|key|upload|download|serve|transfer" }), run_rest, "Ask whether a class of data may be in a zone, and why", NULL, 0,
      NULL, "POST", "/v1/residency/explain", NULL, "data_class=@0 zone=@1 act=act purpose=purpose", "allowed:ALLOWED rule:RULE text:WHY" },
    { "audit", "passports", "", 0, 0, FLAGS(LIST_FLAGS("data sets")), run_rest, "List the data sets that have a passport",
      "The passport itself: falaj api GET /v1/datasets/ID/passport", CMD_LIST, NULL, "GET", "/v1/passports", LIST_FILTERS, NULL,
      "dataset_id:ID name:NAME latest_version:VERSION data_class:CLASS created_at:CREATED" },
    { "zone", "what-if", "CLASS ZONE", 2, 2,
      FLAGS({ "laws", 0, "A,B", "The zone's law would be these known laws", NULL },
            { "law-of", 0, "CODE", "The law of this zone, not of ZONE", NULL },
            { "allow", 0, NULL, "ZONE would be on the tenant's list", NULL },
            { "policy", 0, NULL, "A transfer policy would be in force", NULL },
            { "exception", 0, NULL, "And would name its exception", NULL }),
      run_rest, "Try out a change of a law, a list or a policy on your own things; nothing is stored",
      "  falaj zone what-if health de-fra-1 --policy --exception -o yaml", 0, NULL, "POST", "/v1/residency/simulate", NULL,
      "data_class=@0 zone=@1 *templates=laws law_of=law-of %allow=allow %policy=policy %exception=exception",
      "data_class:CLASS zone:ZONE possible:POSSIBLE forbidden:FORBIDDEN" },
    { "transfer", "propose", "FROM TO CLASS", 3, 3,
      FLAGS({ "purpose", 0, "WORD", "What for; any: everything", NULL }, { "basis", 0, "BASIS", "Legal basis", "adequacy|scc|bcr|explicit-consent|contract|legal-claim|public-interest|regulator-approval" },
            { "document", 0, "SHA256", "Digest of the document, hex", NULL }, { "assessment", 0, "REF", "The transfer risk assessment", NULL },
            { "exception", 0, "REF", "The exception that the law makes", NULL }, { "recipients", 0, "A,B", "Who receives it", NULL }, { "until", 0, "TIME", "Valid until, RFC 3339", NULL }),
      run_rest, "Propose a transfer policy; others approve it", NULL, 0, NULL, "POST", "/v1/transfer-policies", NULL,
      "from_zone=@0 to_zone=@1 data_class=@2 purpose=purpose legal_basis=basis document_sha256=document assessment_ref=assessment exception_ref=exception *recipients=recipients valid_until=until",
      "policy_id:ID state:STATE approval_id:APPROVAL" },
    { "transfer", "policies", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List transfer policies", NULL, CMD_LIST, NULL, "GET", "/v1/transfer-policies", NULL, NULL,
      "policy_id:ID from_zone:FROM to_zone:TO data_class:CLASS purpose:PURPOSE state:STATE valid_until:UNTIL" },
    { "transfer", "list", "", 0, 0, FLAGS({ "zone", 0, "CODE", "From or to this zone", NULL }, LIMIT_FLAG), run_rest, "List what crossed", NULL, CMD_LIST, NULL, "GET", "/v1/transfers", "zone=zone", NULL,
      "transfer_id:ID at:AT from_zone:FROM to_zone:TO data_class:CLASS purpose:PURPOSE bytes:BYTES legal_basis:BASIS" },
    { "transfer", "revoke", "POLICY", 1, 1, NULL, run_rest, "Revoke a transfer policy", NULL, 0, NULL, "POST", "/v1/transfer-policies/{0}/revoke", NULL, NULL, "policy_id:ID state:STATE" },
    { NULL, "evidence", "", 0, 0, FLAGS({ "zone", 0, "CODE", "Only this zone", NULL }, { "from", 0, "TIME", "Begin of the period", NULL }, { "to", 0, "TIME", "Its end", NULL }), run_rest,
      "Show the evidence report", "-o json or yaml shows all of it; GET /v1/evidence.html is for the printer.", 0, NULL, "GET", "/v1/evidence", "zone=zone from=from to=to", NULL,
      "from:FROM to:TO generated_at:MADE is_cut:CUT" },
    { "issuer", "create", "NAME ISSUER AUDIENCE", 3, 3,
      FLAGS({ "jwks-uri", 0, "URL", "Where its keys are fetched from", NULL }, { "jwks", 0, "JSON", "Or its keys, for good; @FILE", NULL },
            { "algorithms", 0, "A,B", "RS256, ES256 or both", NULL }, { "subjects", 0, "JSON", "[{\"subject\": …, \"user_id\": \"usr_…\"}]; @FILE", NULL },
            { "single-use", 0, NULL, "Each token is good once, by its jti", NULL }),
      run_rest, "Believe the tokens of an outside issuer, for service accounts",
      "  falaj issuer create cluster https://issuer.example https://falaj.example/programs --algorithms RS256 --jwks-uri https://issuer.example/keys", 0, NULL,
      "POST", "/v1/issuers", NULL, "name=@0 issuer=@1 audience=@2 jwks_uri=jwks-uri %jwks=jwks *algorithms=algorithms %subjects=subjects ?single_use=single-use", ISSUER_COLUMNS },
    { "issuer", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List outside issuers", NULL, CMD_LIST, NULL, "GET", "/v1/issuers", NULL, NULL, ISSUER_COLUMNS },
    { "issuer", "get", "ISSUER", 1, 1, NULL, run_rest, "Show one outside issuer", NULL, 0, &issuer_noun, "GET", "/v1/issuers/{0}", NULL, NULL, ISSUER_COLUMNS },
    { "issuer", "delete", "ISSUER", 1, 1, NULL, run_rest, "Remove an outside issuer; nothing it signs is believed any more", NULL, 0, &issuer_noun, "DELETE",
      "/v1/issuers/{0}", NULL, NULL, "issuer_id:ID" },
    { "idp", "create", "NAME ISSUER CLIENT", 3, 3,
      FLAGS({ "secret", 0, "TEXT", "The client's secret (none: a public client)", NULL }, { "scopes", 0, "A,B", "Scopes (openid,profile,email)", NULL },
            { "name-claim", 0, "CLAIM", "Names new users (preferred_username)", NULL }, { "groups-claim", 0, "CLAIM", "Holds the groups (groups)", NULL },
            { "group-roles", 0, "JSON", "[{\"group\": …, \"role\": …}]; @FILE", NULL }, { "create-users", 0, NULL, "Who signs in first becomes a user", NULL }),
      run_rest, "Let people sign in at an OpenID provider", "  falaj idp create staff https://login.example falaj --create-users", 0, NULL, "POST", "/v1/identity-providers", NULL,
      "name=@0 issuer=@1 client_id=@2 client_secret=secret *scopes=scopes name_claim=name-claim groups_claim=groups-claim %group_roles=group-roles ?create_users=create-users",
      IDP_COLUMNS },
    { "idp", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List OpenID providers", NULL, CMD_LIST, NULL, "GET", "/v1/identity-providers", NULL, NULL, IDP_COLUMNS },
    { "idp", "get", "PROVIDER", 1, 1, NULL, run_rest, "Show one OpenID provider", NULL, 0, &idp_noun, "GET", "/v1/identity-providers/{0}", NULL, NULL, IDP_COLUMNS },
    { "idp", "link", "PROVIDER SUBJECT USER", 3, 3, NULL, run_rest, "Say who a person of the provider is here", NULL, 0, &idp_noun, "POST",
      "/v1/identity-providers/{0}/links", NULL, "subject=@1 &user_id=@2", "provider_id:ID" },
    { "idp", "test", "PROVIDER", 1, 1, NULL, run_rest, "Ask a provider for its metadata and keys, as a sign-in would",
      "Ends with 1 when they cannot be used.", CMD_TEST, &idp_noun, "POST",
      "/v1/identity-providers/{0}/test", NULL, NULL, "ok:OK issuer:ISSUER keys:KEYS redirect_uri:REDIRECT problem:PROBLEM" },
    { "idp", "delete", "PROVIDER", 1, 1, NULL, run_rest, "Remove a provider; the users it made stay", NULL, 0, &idp_noun, "DELETE", "/v1/identity-providers/{0}", NULL, NULL,
      "provider_id:ID" },
    { "quota", "list", "", 0, 0, FLAGS({ "tenant", 0, "TENANT", "Name or id of a tenant (your own)", NULL }), cmd_quota_list, "Show quotas and what is used", NULL, 0, &tenant_noun, "GET", "/v1/quotas",
      NULL, NULL, "resource:RESOURCE used:USED hard_limit:LIMIT" },
    { "quota", "set", "TENANT RESOURCE LIMIT", 3, 3, NULL, cmd_quota_set, "Set a tenant's quota", "RESOURCE is one of jobs slots gpus stored_bytes objects running_jobs pending_jobs\n  api_rate_per_minute.", 0, &tenant_noun, "PUT",
      "/v1/tenants/{0}/quotas/{1}", NULL, "#hard_limit=@2", "resource:RESOURCE hard_limit:LIMIT" },
    { "rule", "list", "", 0, 0, FLAGS({ "place", 0, "PLACE", "Only rules of this place", "tenant|project|queue" }, LIMIT_FLAG), run_rest, "List quota rules with what is used of each",
      NULL, CMD_LIST, NULL, "GET", "/v1/quota-rules", "place=place", NULL, RULE_COLUMNS },
    { "rule", "create", "PLACE RESOURCE NOMINAL", 3, 3,
      FLAGS({ "queue", 0, "NAME", "The queue", NULL }, { "project", 0, "PROJECT", "The project (prj_…)", NULL }, { "flavor", 0, "NAME", "Flavor of machine (all)", NULL },
            { "zone", 0, "CODE", "Zone (all)", NULL }, RULE_FLAGS),
      run_rest, "Divide the tenant's quota: a rule of a project or queue", "PLACE is project or queue, RESOURCE slots or gpus.\n  falaj rule create queue gpus 4 --queue night", 0, NULL,
      "POST", "/v1/quota-rules", NULL, "place=@0 resource=@1 #nominal=@2 queue=queue project_id=project flavor=flavor zone=zone " RULE_NUMBERS, RULE_COLUMNS },
    { "rule", "set", "RULE NOMINAL", 2, 2, FLAGS(RULE_FLAGS), run_rest, "Change the numbers of a rule of a project or queue", RULE_PUT "\n  falaj rule set qrl_… 6 --lending-limit 2", 0, NULL,
      "PUT", "/v1/quota-rules/{0}", NULL, "#nominal=@1 " RULE_NUMBERS, RULE_COLUMNS },
    { "rule", "delete", "RULE", 1, 1, NULL, run_rest, "Remove a rule of a project or queue", NULL, 0, NULL, "DELETE", "/v1/quota-rules/{0}", NULL, NULL, RULE_COLUMNS },
    { "tenant-rule", "list", "TENANT", 1, 1, FLAGS(LIMIT_FLAG), run_rest, "List a tenant's quota rules with what is used of each", NULL, CMD_LIST, &tenant_noun, "GET",
      "/v1/tenants/{0}/quota-rules", NULL, NULL, RULE_COLUMNS },
    { "tenant-rule", "create", "TENANT RESOURCE NOMINAL", 3, 3,
      FLAGS({ "flavor", 0, "NAME", "Flavor of machine (all)", NULL }, { "zone", 0, "CODE", "Zone (all)", NULL }, RULE_FLAGS),
      run_rest, "Say what a tenant has, and what it may borrow and lend", "RESOURCE is slots or gpus.\n  falaj tenant-rule create palm gpus 8 --flavor gpu --borrowing-limit 4", 0,
      &tenant_noun, "POST", "/v1/tenants/{0}/quota-rules", NULL, "resource=@1 #nominal=@2 flavor=flavor zone=zone " RULE_NUMBERS, RULE_COLUMNS },
    { "tenant-rule", "set", "TENANT RULE NOMINAL", 3, 3, FLAGS(RULE_FLAGS), run_rest, "Change what a tenant has", RULE_PUT, 0, &tenant_noun, "PUT",
      "/v1/tenants/{0}/quota-rules/{1}", NULL, "#nominal=@2 " RULE_NUMBERS, RULE_COLUMNS },
    { "tenant-rule", "delete", "TENANT RULE", 2, 2, NULL, run_rest, "Remove a tenant's rule", NULL, 0, &tenant_noun, "DELETE", "/v1/tenants/{0}/quota-rules/{1}", NULL, NULL,
      RULE_COLUMNS },
    { "budget", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List budgets and where they stand", NULL, CMD_LIST, NULL, "GET", "/v1/budgets", NULL, NULL, BUDGET_COLUMNS },
    { "budget", "get", "BUDGET", 1, 1, NULL, run_rest, "Show one budget and where it stands", NULL, 0, &budget_noun, "GET", "/v1/budgets/{0}", NULL, NULL, BUDGET_COLUMNS },
    { "budget", "create", "NAME MEASURE AMOUNT PERIOD", 4, 4,
      FLAGS({ "currency", 0, "CODE", "Of a budget of money", NULL }, { "project", 0, "PROJECT", "Of this project (prj_…)", NULL },
            { "stop-percent", 0, "N", "Stop at this threshold (only warn)", NULL }, { "warn-percent", 0, "JSON", "Thresholds that are told of ([80,100])", NULL },
            { "reserve", 0, NULL, "Accept a job only if the most it can take still fits", NULL }),
      run_rest, "Make a budget", "MEASURE is money, gpu_hours or kwh, PERIOD month or total.\n  falaj budget create research money 500000 month --currency AED --stop-percent 100", 0, NULL,
      "POST", "/v1/budgets", NULL, "name=@0 measure=@1 #amount=@2 period=@3 currency=currency project_id=project #stop_percent=stop-percent %warn_percent=warn-percent ?reserve=reserve",
      BUDGET_COLUMNS },
    { "budget", "set", "BUDGET", 1, 1,
      FLAGS({ "amount", 0, "N", "Minor units, hours or kWh", NULL }, { "stop-percent", 0, "N", "Stop at this threshold; 0: only warn", NULL },
            { "warn-percent", 0, "JSON", "Thresholds that are told of, such as [80,100]", NULL }),
      run_rest, "Change a budget; what is not given stays", "  falaj budget set research --amount 700000", 0, &budget_noun, "PATCH", "/v1/budgets/{0}", NULL,
      "#amount=amount #stop_percent=stop-percent %warn_percent=warn-percent", BUDGET_COLUMNS },
    { "budget", "delete", "BUDGET", 1, 1, NULL, run_rest, "Remove a budget", NULL, 0, &budget_noun, "DELETE", "/v1/budgets/{0}", NULL, NULL, BUDGET_COLUMNS },
    { "price", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "Show the price book", NULL, CMD_LIST, NULL, "GET", "/v1/prices", NULL, NULL,
      "flavor:FLAVOR valid_from:FROM currency:CURRENCY slot_hour:SLOT_HOUR gpu_hour:GPU_HOUR kwh:KWH slot_watts:SLOT_WATTS gpu_watts:GPU_WATTS" },
    { "price", "add", "FLAVOR CURRENCY", 2, 2,
      FLAGS({ "slot-hour", 0, "N", "Minor units for a slot and hour", NULL }, { "gpu-hour", 0, "N", "Minor units for a GPU and hour", NULL }, { "kwh", 0, "N", "Minor units for a kWh", NULL },
            { "slot-watts", 0, "N", "Watts of a booked slot", NULL }, { "gpu-watts", 0, "N", "Watts of a booked GPU", NULL }, { "from", 0, "TIME", "From then on (now)", NULL }),
      run_rest, "Add a price to the book", NULL, 0, NULL, "POST", "/v1/prices", NULL,
      "flavor=@0 currency=@1 #slot_hour=slot-hour #gpu_hour=gpu-hour #kwh=kwh #slot_watts=slot-watts #gpu_watts=gpu-watts valid_from=from", "price_id:ID flavor:FLAVOR valid_from:FROM" },
    CLASS_COMMANDS,
    QUEUE_COMMANDS,
    { NULL, "usage", "[FILE]", 0, 1,
      FLAGS({ "days", 0, "N", "Days to look back (30)", NULL }, { "from", 0, "TIME", "Attempts that ended at or after", NULL }, { "to", 0, "TIME", "Attempts that ended before", NULL },
            { "by", 0, "A,B", "What to sum by: day, project, queue, flavor, zone, pool (day,zone,pool)", NULL }, { "csv", 0, NULL, "Every ended attempt as CSV, not sums", NULL }),
      cmd_usage, "Show what was used and what it cost", "With --csv to FILE, or to standard output.\n  falaj usage --by project,flavor\n  falaj usage --csv --from 2026-01-01T00:00:00Z january.csv", 0, NULL, "GET",
      "/v1/usage", "days=days from=from to=to by=by", NULL,
      "day:DAY +project_id:PROJECT +queue:QUEUE +flavor:FLAVOR zone:ZONE pool:POOL attempts:ATTEMPTS slot_ms:SLOT_MS gpu_ms:GPU_MS +energy_mj:MILLIJOULES amount_minor:AMOUNT currency:CURRENCY" },
    { "system", "health", "", 0, 0, NULL, cmd_system_health, "Show how each part of the platform is", "For the platform's staff. Ends with 1 when a part is down.", 0, NULL, "GET",
      "/v1/system/health", NULL, NULL, "name:PART zone:ZONE state:STATE latency_ms:MS version:VERSION detail:DETAIL" },
    { "node", "list", "", 0, 0,
      FLAGS(LIMIT_FLAG, { "zone", 0, "CODE", "Only of this zone", NULL }, { "pool", 0, "POOL", "Only of this pool", NULL },
            { "q", 0, "TEXT", "Only machines whose name contains this (3 characters or more)", NULL },
            { "state", 0, "STATE", "Only in this state", "READY|DRAINING|QUARANTINED|LOST" }, { "sort", 0, "ORDER", "Newest first, or by name", "-created_at|name" }),
      run_rest, "List worker machines", NULL, CMD_LIST, NULL, "GET", "/v1/nodes", "zone=zone pool=pool state=state q=q sort=sort", NULL, NODE_COLUMNS },
    { "node", "get", "NODE", 1, 1, NULL, run_rest, "Show one worker machine", NULL, 0, &node_noun, "GET", "/v1/nodes/{0}", NULL, NULL, NODE_COLUMNS },
    { "node", "work", "NODE", 1, 1, FLAGS(LIMIT_FLAG), run_rest, "Show what a worker machine has to do now", "Ids, sizes and times: no name or data of a tenant.", CMD_LIST, &node_noun,
      "GET", "/v1/nodes/{0}/work", NULL, NULL,
      "attempt_id:ID job_id:JOB +tenant_id:TENANT kind:KIND state:STATE slots:SLOTS +gpus:GPUS +leased_at:LEASED started_at:STARTED" },
    { "node", "drain", "NODE", 1, 1, FLAGS(REASON_FLAG), run_rest, "No new leases; what runs may end", NULL, 0, &node_noun, "POST", "/v1/nodes/{0}/drain", NULL, "reason=reason",
      NODE_MOVED_COLUMNS },
    { "node", "undrain", "NODE", 1, 1, FLAGS(REASON_FLAG), run_rest, "Leases again for a drained machine", NULL, 0, &node_noun, "POST", "/v1/nodes/{0}/undrain", NULL, "reason=reason",
      NODE_MOVED_COLUMNS },
    { "node", "quarantine", "NODE", 1, 1, FLAGS(REASON_FLAG), run_rest, "Shut a machine out at once", "Its calls are refused, its leases end, its jobs go elsewhere.", 0, &node_noun,
      "POST", "/v1/nodes/{0}/quarantine", NULL, "reason=reason", NODE_MOVED_COLUMNS },
    { "node", "release", "NODE", 1, 1, FLAGS(REASON_FLAG), run_rest, "End a quarantine", NULL, 0, &node_noun, "POST", "/v1/nodes/{0}/release", NULL, "reason=reason", NODE_MOVED_COLUMNS },
    { "node", "join-token", "", 0, 0,
      FLAGS({ "zone", 0, "CODE", "Zone of the machine", NULL }, { "pool", 0, "POOL", "Pool of the machine (default)", NULL },
            { "name", 0, "NAME", "For this machine only; it may take the name over", NULL }, { "uses", 0, "N", "Machines it enrols (1)", NULL },
            { "minutes", 0, "N", "Minutes until it ends (60)", NULL }, { "cidrs", 0, "A,B", "Networks it may be used from (any)", NULL }),
      run_rest, "Make a join token for a machine", "The token is shown this once; docs/howto/add-worker.md says what to do with it.", 0, NULL, "POST", "/v1/join-tokens", NULL,
      "zone=zone pool=pool node_name=name #uses=uses #expires_in_minutes=minutes *cidrs=cidrs", "join_token_id:ID zone:ZONE pool:POOL token:TOKEN expires_at:EXPIRES" },
    { "node", "join-tokens", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List join tokens", NULL, CMD_LIST, NULL, "GET", "/v1/join-tokens", NULL, NULL,
      "join_token_id:ID zone:ZONE pool:POOL +node_name:NAME hint:HINT used:USED uses:USES expires_at:EXPIRES revoked_at:REVOKED" },

    { "key", "list", "", 0, 0, NULL, run_rest, "List the tenant's keys, zone by zone", NULL, 0, NULL, "GET", "/v1/keys", NULL, NULL, KEY_COLUMNS },
    { "key", "versions", "ZONE", 1, 1, FLAGS(LIMIT_FLAG), run_rest, "List the versions of a zone's key, newest first", NULL, CMD_LIST, NULL, "GET", "/v1/keys/{0}/versions",
      NULL, NULL, KEY_VERSION_COLUMNS },
    { "key", "rotate", "ZONE", 1, 1, FLAGS({ "tier", 0, "TIER", "Wrapped by the zone's root, or an object of its own in the token", "wrapped|sovereign" }), run_rest,
      "Make a new version; data keys move to it in the background", "Watch it with 'falaj key rewraps ZONE'.", 0, NULL, "POST", "/v1/keys/{0}/rotate", NULL, "tier=tier",
      KEY_VERSION_COLUMNS },
    { "key", "rewraps", "ZONE", 1, 1, FLAGS(LIMIT_FLAG), run_rest, "Show how far data keys have moved", NULL, CMD_LIST, NULL, "GET", "/v1/keys/{0}/rewraps", NULL, NULL,
      REWRAP_COLUMNS },
    { "key", "min-version", "ZONE VERSION", 2, 2, NULL, run_rest, "Disable every version below VERSION", NULL, 0, NULL, "PUT", "/v1/keys/{0}/min-version", NULL,
      "#min_version=@1", KEY_COLUMNS },
    { "key", "disable", "ZONE VERSION", 2, 2, NULL, run_rest, "Disable a version: nothing under it opens", NULL, 0, NULL, "POST", "/v1/keys/{0}/versions/{1}/disable", NULL,
      NULL, KEY_VERSION_COLUMNS },
    { "key", "enable", "ZONE VERSION", 2, 2, NULL, run_rest, "Let a disabled version open again", NULL, 0, NULL, "POST", "/v1/keys/{0}/versions/{1}/enable", NULL, NULL,
      KEY_VERSION_COLUMNS },
    { "key", "destroy", "ZONE VERSION", 2, 2, FLAGS({ "reason", 0, "TEXT", "Why; approvers read it", NULL }), run_rest, "Ask for the destruction of a version",
      "Somebody else must approve it; then it waits its days (keys.destroy_days) and can be called off with 'falaj key cancel'.", 0, NULL, "POST",
      "/v1/keys/{0}/versions/{1}/destroy", NULL, "reason=reason", KEY_APPROVAL_COLUMNS },
    { "key", "shred", "ZONE", 1, 1, FLAGS({ "reason", 0, "TEXT", "Why; approvers read it", NULL }), run_rest, "Ask for the destruction of all versions of a zone",
      "Everything the tenant has stored there becomes unreadable for ever.", 0, NULL, "POST", "/v1/keys/{0}/destroy", NULL, "reason=reason", KEY_APPROVAL_COLUMNS },
    { "key", "cancel", "ZONE VERSION", 2, 2, NULL, run_rest, "Call off a scheduled destruction", NULL, 0, NULL, "POST", "/v1/keys/{0}/versions/{1}/cancel", NULL, NULL,
      KEY_VERSION_COLUMNS },
    { "key", "import-key", "ZONE", 1, 1, NULL, run_rest, "Show the public key to seal an own key to", "docs/byok.md has the recipe.", 0, NULL, "GET", "/v1/keys/{0}/import-key",
      NULL, NULL, "zone:ZONE import_point:POINT" },
    { "key", "import", "ZONE POINT SEALED", 3, 3, NULL, run_rest, "Bring an own key as the new primary version", "POINT and SEALED are base64; docs/byok.md has the recipe.", 0,
      NULL, "POST", "/v1/keys/{0}/import", NULL, "ephemeral_public=@1 sealed_key=@2", KEY_VERSION_COLUMNS },
    { "key", "certificates", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List certificates of erasure", NULL, CMD_LIST, NULL, "GET", "/v1/erasure-certificates", NULL, NULL,
      "certificate_id:ID zone:ZONE key_version:VERSION objects:OBJECTS destroyed_at:DESTROYED backups_until:BACKUPS_UNTIL" },
    { "key", "roots", "ZONE", 1, 1, NULL, run_rest, "List the versions of a zone's root key", NULL, 0, NULL, "GET", "/v1/zones/{0}/keys", NULL, NULL,
      "version:VERSION state:STATE provider:PROVIDER tenant_keys:TENANT_KEYS created_at:CREATED" },
    { "key", "attest", "ZONE", 1, 1, NULL, run_rest, "Show what a zone's key store says of itself", NULL, 0, NULL, "GET", "/v1/zones/{0}/keys/attestation", NULL, NULL,
      "zone:ZONE provider:PROVIDER mechanism:MECHANISM sealed:SEALED hardware:HARDWARE token_label:TOKEN token_serial:SERIAL" },
    { "key", "root-rotate", "ZONE", 1, 1, FLAGS({ "reason", 0, "TEXT", "Why; the second custodian reads it", NULL }), run_rest, "Ask for a new root version of a zone", NULL, 0,
      NULL, "POST", "/v1/zones/{0}/keys/rotate", NULL, "reason=reason", KEY_APPROVAL_COLUMNS },
    { "key", "root-destroy", "ZONE VERSION", 2, 2, FLAGS({ "reason", 0, "TEXT", "Why; approvers read it", NULL }), run_rest, "Ask for the destruction of a retired root version",
      NULL, 0, NULL, "POST", "/v1/zones/{0}/keys/versions/{1}/destroy", NULL, "reason=reason", KEY_APPROVAL_COLUMNS },

    { "audit", "events", "", 0, 0,
      FLAGS({ "after", 0, "N", "Only entries after this number", NULL }, AUDIT_WANT_FLAGS, LIMIT_FLAG), run_rest, "List audit entries", NULL, CMD_LIST | CMD_AFTER, NULL,
      "GET", "/v1/audit/events", "after=after " AUDIT_WANT, NULL,
      "tseq:ENTRY at:AT action:ACTION actor_name:NAME actor_id:ACTOR outcome:OUTCOME +event.code:CODE +resource_id:RESOURCE +request_id:REQUEST event_id:ID" },
    { "audit", "csv", "", 0, 0, FLAGS(AUDIT_WANT_FLAGS), cmd_audit_csv, "Write every entry that a search finds as CSV, with names",
      "For spreadsheets; it proves nothing.\n  falaj audit csv --action job. --from 2026-01-01T00:00:00Z > jobs.csv", 0, NULL, "GET", "/v1/audit/events.csv", AUDIT_WANT },
    { "audit", "count", "", 0, 0, FLAGS(AUDIT_WANT_FLAGS), run_rest, "Count what a search finds, by action, outcome and who acted",
      "A reading of the log, no export. -o yaml shows all counts.", 0, NULL, "GET", "/v1/audit/summary", AUDIT_WANT, NULL,
      "events:EVENTS first_at:FIRST last_at:LAST" },
    { "audit", "head", "", 0, 0, NULL, run_rest, "Show the newest signed head of the log", NULL, 0, NULL, "GET", "/v1/audit/head", NULL, NULL, "size:SIZE root:ROOT" },
    { "audit", "export", "[FILE]", 0, 1,
      FLAGS({ "format", 0, "FORMAT", "jsonl is the bundle that verifies; the others are renderings (jsonl)", "jsonl|ocsf|cef|syslog|csv|summary|summary-html" },
            { "since", 0, "EXPORT", "Only what is newer than this export, with the proof that nothing older was changed", NULL },
            { "from", 0, "TIME", "Only events from this time on (RFC 3339)", NULL }, { "until", 0, "TIME", "Only events before this time", NULL },
            { "actor", 0, "WHO", "Only acts of this user (usr_…) or kind of actor", NULL },
            { "action", 0, "ACTION", "Only this action; with a dot at its end all that begin so", NULL },
            { "resource", 0, "WHAT", "Only about this resource or kind", NULL },
            { "proves", 0, "WHAT", "With a filter: completeness (nothing that fits was left out), inclusion (smaller), or best (best)",
              "best|completeness|inclusion" },
            { "resume", 0, "EXPORT", "Go on with a download of FILE that broke off", NULL }),
      cmd_audit_export, "Export the log with its proofs", "Verify it with 'falaj audit verify' or falaj-verify; both need no network.\n"
      "  falaj audit export log.jsonl\n  falaj audit export jobs.jsonl --action job. --from 2026-01-01T00:00:00Z", 0, NULL,
      "POST", "/v1/audit/exports", NULL, "format=format since_export=since from=from to=until actor=actor action=action resource=resource proves=proves" },
    { "audit", "exports", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List exports, newest first", NULL, CMD_LIST, NULL, "GET", "/v1/audit/exports", NULL, NULL,
      "export_id:ID format:FORMAT +proves:PROVES from_tseq:FROM to_tseq:TO size_bytes:BYTES +filter:FILTER +since_export:SINCE created_at:CREATED" },
    { "audit", "heads", "", 0, 0, FLAGS({ "after", 0, "SIZE", "Only heads of more entries", NULL }, LIMIT_FLAG), run_rest, "List signed heads, oldest first", NULL, CMD_LIST,
      NULL, "GET", "/v1/audit/heads", "after=after", NULL, "size:SIZE signed_at:SIGNED key_id:KEY +signature:SIGNATURE" },
    { "audit", "proof", "ENTRY SIZE", 2, 2, NULL, run_rest, "Prove that an entry is in the tree of the signed head of SIZE entries", NULL, 0, NULL, "GET",
      "/v1/audit/proofs/inclusion", "tseq=@0 size=@1", NULL, "from:ENTRY to:SIZE proof:PROOF" },
    { "audit", "extends", "FROM TO", 2, 2, NULL, run_rest, "Prove that the tree of TO entries extends the tree of FROM entries", NULL, 0, NULL, "GET",
      "/v1/audit/proofs/consistency", "from=@0 to=@1", NULL, "from:FROM to:TO proof:PROOF" },
    { "audit", "zone-proof", "", 0, 0,
      FLAGS({ "size", 0, "SIZE", "The own head of SIZE entries; the newest if absent", NULL },
            { "from", 0, "SIZE", "Show too that the zone's head extends its head of SIZE entries", NULL }),
      run_rest, "Prove that a signed head is under the zone's head",
      "  falaj audit zone-proof -o json | jq -c .file > proof.json; falaj-verify head-proof --key KEY proof.json", 0, NULL, "GET",
      "/v1/audit/proofs/zone", "size=size from=from", NULL, "tseq:ENTRY +file:FILE" },
    { "audit", "head-proof", "PROOF", 1, 1,
      FLAGS({ "key", 0, "FILE", "Public key of the zone (PEM, base64 or hex); several lines for several keys", NULL },
            { "anchor", 0, "FILE", "The file that the zone's heads are anchored in: the proof's must be one of them", NULL }),
      cmd_audit_head_proof, "Check the way from a signed head to the zone's head, and to the file of anchors",
      "Offline; 'falaj audit zone-proof' gives the proof. Ends with 2 when it does not hold or the head is not anchored.\n"
      "  falaj audit head-proof proof.json --key zone.pem --anchor falaj-anchor-ZONE.jsonl", CMD_LOCAL },
    { "audit", "reconcile", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "Show what comparing the access log with the audit log found, day by day",
      "The comparisons stand in the platform's log: for its compliance officers.", CMD_LIST | CMD_AFTER, NULL, "GET", "/v1/audit/events?action=audit.reconcile", NULL, NULL,
      "tseq:ENTRY event.outcome:OUTCOME event.details.lines:LINES event.details.audited:AUDITED event.details.missing:MISSING event.details.missing_1:FIRST" },
    { "audit", "holds", "", 0, 0, FLAGS({ "state", 0, "STATE", "Only holds in this state", "ACTIVE|LIFTED" }, LIMIT_FLAG), run_rest, "List legal holds", NULL, CMD_LIST, NULL, "GET",
      "/v1/audit/holds", "state=state", NULL, HOLD_COLUMNS },
    { "audit", "person", "USER", 1, 1, NULL, run_rest, "Show what is kept of a person: to hand out, and what an erasure takes"
        " away", NULL, 0, NULL,
      "GET", "/v1/audit/persons/{0}", NULL, NULL, "place:TABLE field:COLUMN value:VALUE +means:MEANS" },
    { "audit", "erase", "USER", 1, 1, NULL, run_rest, "Erase a person: all credentials end, what is kept of them is emptied,"
        " the log's fields close",
      "It cannot be undone. A legal hold forbids it. docs/howto/erase-a-person.md says what stays, and why.", 0, NULL,
      "POST", "/v1/audit/erasures", NULL, "user_id=@0", "user_id:USER erased_at:ERASED had_fields:FIELDS" },
    { "audit", "erasures", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List the persons who were erased", NULL, CMD_LIST, NULL,
      "GET", "/v1/audit/erasures", NULL, NULL, "user_id:USER erased_at:ERASED" },
    { "audit", "hold", "REASON", 1, 1,
      FLAGS({ "user", 0, "USER", "Only what this person did (usr_…)", NULL }, { "tenant", 0, "TENANT", "For the platform: the tenant it is about (tnt_…)", NULL },
            { "from", 0, "TIME", "Only events from this time on", NULL }, { "until", 0, "TIME", "Only events before this time", NULL }),
      run_rest, "Place a legal hold", "  falaj audit hold 'case 2026/17' --user usr_…", 0, NULL, "POST", "/v1/audit/holds", NULL,
      "reason=@0 subject_id=user tenant_id=tenant from=from to=until", HOLD_COLUMNS },
    { "audit", "lift", "HOLD REASON", 2, 2, NULL, run_rest, "Ask for a hold to be lifted; two others approve", NULL, 0, NULL, "POST", "/v1/audit/holds/{0}/lift", NULL,
      "reason=@1", APPROVAL_COLUMNS },
    { "audit", "retention", "", 0, 0, NULL, run_rest, "Show how long the content of events is kept", NULL, 0, NULL, "GET", "/v1/audit/retention", NULL, NULL, KEEP_COLUMNS },
    { "audit", "keep", "CLASS DAYS", 2, 2, FLAGS({ "zone", 0, "ZONE", "For the platform: the least term in this zone", NULL }), run_rest,
      "Set how long a class of events is kept", "CLASS is the middle of the event's code, such as JOB, or '*'.", 0, NULL, "PUT", "/v1/audit/retention", NULL,
      "class=@0 #keep_days=@1 zone=zone", KEEP_COLUMNS },
    { "audit", "verify", "BUNDLE", 1, 1,
      FLAGS({ "key", 0, "FILE", "Public key of the zone that must have signed (PEM, base64 or hex); may be repeated by one file with several lines", NULL },
            { "trust-embedded-key", 0, NULL, "Without --key: believe the key in the bundle, which shows only that it fits itself",
                    NULL },
            { "previous", 0, "FILE", "A head kept from an earlier check: the log must still contain it", NULL },
            { "save-head", 0, "FILE", "Keep the checked head with its signature, for --previous", NULL },
            { "allow-unproved-drops", 0, NULL, "Accept entries without text that no retention entry of the log lists", NULL }),
      cmd_audit_verify, "Check an exported log offline", "Ends with 2 and names the entry when the bundle is damaged, as falaj-verify does.", CMD_LOCAL },

    { NULL, "api", "METHOD PATH", 2, 2, FLAGS({ "data", 'd', "JSON", "Body; @FILE reads a file, @- standard input", NULL }, { "type", 0, "TYPE", "Content type of the body", NULL }), cmd_api,
      "Make any call of the API", "  falaj api GET /v1/jobs?page_size=5", 0 },
    { NULL, "doctor", "", 0, 0, FLAGS(DEV_FLAGS, { "etc", 0, "DIR", "A server's folder of settings (/etc/falaj where no falaj dev runs)", NULL }), cmd_doctor,
      "Check this machine, its programs and a running platform",
      "Programs and processes, disks, certificates, clock, backups, audit anchors, the schema, versions of all programs, the platform's\n"
      "parts and invariants. On a server run it as root with FALAJ_URL and FALAJ_TOKEN of a platform administrator. Each line says what to\n"
      "do; ends with 1 when a check failed.\n  falaj doctor -o json | jq '.data[]|select(.result!=\"ok\")'", CMD_LOCAL },
    { "support", "bundle", "", 0, 0,
      FLAGS(DEV_FLAGS, { "etc", 0, "DIR", "A server's folder of settings", NULL }, { "file", 'f', "FILE", "Write it here (standard output)", NULL },
            { "logs", 0, "DIR", "Folder of the daemons' logs, whose events are counted", NULL }),
      cmd_support, "Gather what a maintainer needs to see, without secrets or personal data",
      "Results of checks, settings that are numbers or choices, states and numbers of the platform's parts, counts of log events. No names,\n"
      "addresses, paths, ids, messages or lines of logs. Read it before you send it.\n  falaj support bundle -f bundle.json", CMD_LOCAL },
    { NULL, "__complete", "[WORD…]", 0, CLI_ARGS_MAX, NULL, cmd_complete, "Print what the last word could be; for the completion scripts", NULL, CMD_LOCAL | CMD_HIDDEN },
    { NULL, "completion", "SHELL", 1, 1, NULL, cmd_completion, "Print a completion script for bash, zsh or fish", "  source <(falaj completion bash)", CMD_LOCAL },
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
