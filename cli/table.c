/* SPDX-License-Identifier: Apache-2.0 */
/* table.c - every command of falaj, one row each; see command.h for the small languages of a row. */
#include "cli/command.h"

#define FLAGS(...) (const struct cli_flag[]){ __VA_ARGS__, { NULL } }
#define LIMIT_FLAG { "limit", 0, "N", "Most items to show; 0 shows all, page by page", NULL }

const struct cli_flag global_flags[] = {
    { "output", 'o', "FORM", "Form of the answer on standard output", "table|wide|json|yaml|csv|name|jsonpath=" },
    { "profile", 0, "NAME", "Profile to use instead of the current one", NULL },
    { "url", 0, "URL", "API to talk to", NULL },
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
    { "model", "Registered models" },
    { "deploy", "Models that answer requests" },
    { "tenant", "Tenants of the platform" },
    { "zone", "Residency zones" },
    { "user", "People and programs of a tenant" },
    { "role", "Who may do what" },
    { "token", "API tokens" },
    { "quota", "How much a tenant may use" },
    { "rule", "How a tenant divides its quota among projects and queues" },
    { "budget", "What may be spent in a month or in all" },
    { "price", "What an hour and a kWh cost on each flavor" },
    { "node", "Worker machines" },
    { "key", "Keys of the tenant, and of a zone's custodians" },
    { "audit", "The record of everything, and its proof" },
    { "keys", "The keys of a zone" },
    { "config", "What this program has been told" },
    { "dev", "The whole platform on this machine" },
    { NULL, NULL },
};

static const struct noun job_noun = { "job", "job_", "/v1/jobs", "job_id" };
static const struct noun dataset_noun = { "data set", "dst_", "/v1/datasets", "dataset_id" };
static const struct noun model_noun = { "model", "mdl_", "/v1/models", "model_id" };
static const struct noun deploy_noun = { "deployment", "dpl_", "/v1/deployments", "deployment_id" };
static const struct noun tenant_noun = { "tenant", "tnt_", "/v1/tenants", "tenant_id" };
static const struct noun node_noun = { "node", "nod_", "/v1/nodes", "node_id" };

#define JOB_COLUMNS "job_id:ID name:NAME kind:KIND state:STATE reason:REASON +zone:ZONE +pool:POOL +slots:SLOTS +priority:PRIORITY submitted_at:SUBMITTED"
#define DATASET_COLUMNS "dataset_id:ID name:NAME latest_version:VERSION data_class:CLASS +label_column:LABEL +classes:CLASSES created_at:CREATED"
#define MODEL_COLUMNS "model_id:ID name:NAME latest_version:VERSION +description:DESCRIPTION created_at:CREATED"
#define DEPLOY_COLUMNS "deployment_id:ID name:NAME state:STATE ready:READY model_version:VERSION +job_id:JOB +endpoint:ENDPOINT created_at:CREATED"
#define TENANT_COLUMNS "tenant_id:ID name:NAME state:STATE home_zone:HOME +allowed_zones:ZONES created_at:CREATED"
#define KEY_COLUMNS "zone:ZONE primary_version:PRIMARY versions:VERSIONS min_version:MIN tier:TIER provider:PROVIDER data_keys:DATA_KEYS advice:ADVICE +wraps:WRAPS rotated_at:ROTATED"
#define KEY_VERSION_COLUMNS "key_version:VERSION state:STATE origin:ORIGIN tier:TIER root_version:ROOT data_keys:DATA_KEYS +wraps:WRAPS created_at:CREATED destroy_after:DESTROY_AFTER"
#define REWRAP_COLUMNS "rewrap_id:ID kind:KIND to_version:TO state:STATE done:DONE total:TOTAL failed:FAILED started_at:STARTED"
#define KEY_APPROVAL_COLUMNS "approval_id:ID kind:KIND subject:SUBJECT state:STATE given:GIVEN needed:NEEDED expires_at:EXPIRES"
#define NODE_COLUMNS "node_id:ID name:NAME zone:ZONE pool:POOL state:STATE slots:SLOTS +gpus:GPUS +backend:BACKEND +version:VERSION +reason:REASON +cert_ends_at:CERTIFICATE last_seen_at:SEEN"
#define NODE_MOVED_COLUMNS "node_id:ID zone:ZONE state:STATE jobs_running:JOBS reason:REASON"
#define REASON_FLAG { "reason", 0, "TEXT", "Why; shown with the machine", NULL }
#define DEV_FLAGS \
    { "data", 0, "DIR", "Data folder ($XDG_DATA_HOME/falaj; root: /var/lib/falaj-dev)", NULL }

const struct command command_table[] = {
    { NULL, "dev", "", 0, 0,
      FLAGS(DEV_FLAGS, { "ephemeral", 0, NULL, "A folder that is removed at the end", NULL }, { "zone", 0, "CODE[,CODE]", "Residency zones; each has a falaj-keyd and a worker of its own (ae-dxb-1)", NULL },
            { "port", 0, "N", "Port of the API; 0: any free one (8080, or the next free)", NULL },
            { "slots", 0, "N", "Leases the worker runs at once (as many as cores, at least 8)", NULL },
            { "hsm", 0, NULL, "The zone's keys in a SoftHSM token instead of a file (new data folder)", NULL },
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

    { "job", "submit", "[NAME]", 0, 1,
      FLAGS({ "file", 'f', "FILE", "Whole request as JSON; - is standard input", NULL }, { "kind", 0, "KIND", "What it does (train)", "noop|train" },
            { "dataset", 0, "DATASET", "Name or id of the data set to train on", NULL }, { "dataset-version", 0, "N", "Its version (the newest)", NULL },
            { "hidden", 0, "N,N", "Widths of the hidden layers (64,32)", NULL }, { "epochs", 0, "N", "Passes over the training rows (30)", NULL },
            { "learning-rate", 0, "R", "Learning rate (0.003)", NULL }, { "batch-size", 0, "N", "Rows per step (32)", NULL },
            { "seed", 0, "N", "Seed of all randomness (1)", NULL }, { "holdout", 0, "R", "Share of rows that is held out (0.2)", NULL },
            { "set", 0, "JSON", "Further members of spec, as a JSON object", NULL },
            { "spec", 0, "JSON", "The whole spec as a JSON object, or @FILE, instead of the flags above", NULL }, { "zone", 0, "CODE", "Run in this zone only", NULL },
            { "pool", 0, "POOL", "Run in this pool of machines", NULL }, { "slots", 0, "N", "Slots wanted", NULL }, { "gpus", 0, "N", "GPUs wanted", NULL },
            { "priority", 0, "N", "Higher goes first", NULL }, { "max-attempts", 0, "N", "Times to try", NULL },
            { "max-runtime", 0, "SECONDS", "Longest time an attempt may run", NULL }, { "wait", 0, NULL, "Wait for the end and follow the log", NULL }),
      cmd_job_submit, "Submit a job", "  falaj job submit first --dataset digits --epochs 30 --wait", 0, NULL, NULL, NULL, NULL, NULL, JOB_COLUMNS },
    { "job", "list", "", 0, 0, FLAGS({ "state", 0, "STATE", "Only jobs in this state", NULL }, { "kind", 0, "KIND", "Only jobs of this kind", "noop|train|serve" }, LIMIT_FLAG),
      run_rest, "List jobs", NULL, CMD_LIST, NULL, "GET", "/v1/jobs", "state=state kind=kind", NULL, JOB_COLUMNS },
    { "job", "get", "JOB", 1, 1, NULL, run_rest, "Show one job", NULL, 0, &job_noun, "GET", "/v1/jobs/{0}", NULL, NULL, JOB_COLUMNS },
    { "job", "logs", "JOB", 1, 1, FLAGS({ "follow", 'f', NULL, "Go on until the job ends; Ctrl-C does not cancel the job", NULL }),
      cmd_job_logs, "Print what a job wrote", NULL, 0, &job_noun },
    { "job", "events", "JOB", 1, 1, FLAGS({ "follow", 'f', NULL, "Go on until the job ends", NULL }), cmd_job_events, "Show the states a job went through", NULL, 0,
      &job_noun, "GET", "/v1/jobs/{0}/events", NULL, NULL, "version:VERSION state:STATE reason:REASON message:MESSAGE +fence:FENCE at:AT" },
    { "job", "cancel", "JOB", 1, 1, NULL, run_rest, "Cancel a job", NULL, 0, &job_noun, "POST", "/v1/jobs/{0}/cancel", NULL, "", JOB_COLUMNS },
    { "job", "wait", "JOB", 1, 1, FLAGS({ "timeout", 0, "SECONDS", "Give up after so long (exit 9)", NULL }), cmd_job_wait, "Wait until a job has ended",
      "Ends with 0 when the job is COMPLETED and with 11 when it ended in any other way.", 0, &job_noun },

    { "dataset", "create", "NAME", 1, 1,
      FLAGS({ "label", 0, "COLUMN", "Name of the label column (label)", NULL }, { "classes", 0, "N", "Number of classes", NULL },
            { "description", 0, "TEXT", "What it is", NULL }, { "class", 0, "CLASS", "Data class, for residency", NULL }),
      run_rest, "Create a data set", "  falaj dataset create digits --label label --classes 10", 0, NULL, "POST", "/v1/datasets", NULL,
      "name=@0 description=description data_class=class label_column=label #classes=classes", DATASET_COLUMNS },
    { "dataset", "upload", "DATASET FILE", 2, 2, NULL, cmd_dataset_upload, "Upload a CSV file as the next version", NULL, 0, &dataset_noun, NULL, NULL, NULL, NULL,
      "dataset_id:ID version:VERSION row_count:ROWS column_count:COLUMNS size_bytes:BYTES sha256:SHA256" },
    { "dataset", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List data sets", NULL, CMD_LIST, NULL, "GET", "/v1/datasets", NULL, NULL, DATASET_COLUMNS },
    { "dataset", "get", "DATASET", 1, 1, NULL, run_rest, "Show one data set", NULL, 0, &dataset_noun, "GET", "/v1/datasets/{0}", NULL, NULL, DATASET_COLUMNS },
    { "dataset", "versions", "DATASET", 1, 1, FLAGS(LIMIT_FLAG), run_rest, "List the versions of a data set", NULL, CMD_LIST, &dataset_noun, "GET",
      "/v1/datasets/{0}/versions", NULL, NULL, "version:VERSION row_count:ROWS column_count:COLUMNS size_bytes:BYTES zone:ZONE sha256:SHA256" },
    { "dataset", "download", "DATASET [FILE]", 1, 2, FLAGS({ "version", 'V', "N", "Version (the newest)", NULL }), cmd_dataset_download,
      "Download a version of a data set", "Without FILE, or with -, to standard output.", 0, &dataset_noun },

    { "model", "register", "NAME JOB", 2, 2, FLAGS({ "description", 0, "TEXT", "What it is", NULL }), run_rest, "Register a job's model as the next version of NAME", NULL, 0,
      NULL, "POST", "/v1/models", NULL, "name=@0 &job_id=@1 description=description", MODEL_COLUMNS },
    { "model", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List models", NULL, CMD_LIST, NULL, "GET", "/v1/models", NULL, NULL, MODEL_COLUMNS },
    { "model", "get", "MODEL", 1, 1, NULL, run_rest, "Show one model", NULL, 0, &model_noun, "GET", "/v1/models/{0}", NULL, NULL, MODEL_COLUMNS },
    { "model", "versions", "MODEL", 1, 1, FLAGS(LIMIT_FLAG), run_rest, "List the versions of a model", NULL, CMD_LIST, &model_noun, "GET", "/v1/models/{0}/versions", NULL, NULL,
      "version:VERSION job_id:JOB size_bytes:BYTES created_at:CREATED" },
    { "model", "download", "MODEL [FILE]", 1, 2, FLAGS({ "version", 'V', "N", "Version (the newest)", NULL }), cmd_model_download, "Download a model as safetensors", NULL, 0,
      &model_noun },

    { "deploy", "create", "NAME MODEL", 2, 2, FLAGS({ "version", 'V', "N", "Version of the model (the newest)", NULL }, { "slots", 0, "N", "Slots wanted", NULL },
            { "wait", 0, NULL, "Return when it answers requests", NULL }), cmd_deploy_create,
      "Serve a model under a name", "  falaj deploy create digits digits --wait", 0, NULL, "POST", "/v1/deployments", NULL, "name=@0 &model_id=@1 #model_version=version #slots=slots", DEPLOY_COLUMNS },
    { "deploy", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List deployments", NULL, CMD_LIST, NULL, "GET", "/v1/deployments", NULL, NULL, DEPLOY_COLUMNS },
    { "deploy", "get", "DEPLOYMENT", 1, 1, NULL, run_rest, "Show one deployment", NULL, 0, &deploy_noun, "GET", "/v1/deployments/{0}", NULL, NULL, DEPLOY_COLUMNS },
    { "deploy", "delete", "DEPLOYMENT", 1, 1, NULL, run_rest, "Take a deployment down", NULL, 0, &deploy_noun, "DELETE", "/v1/deployments/{0}", NULL, NULL, DEPLOY_COLUMNS },
    { NULL, "infer", "NAME [FILE]", 1, 2, FLAGS({ "row", 0, "N,N,…", "One row of numbers instead of a file", NULL }, { "input", 0, "NAME", "Name of the input (asked from the model)", NULL }),
      cmd_infer, "Ask a deployed model",
      "FILE holds an Open Inference Protocol v2 request as JSON; - is standard input.\n  falaj infer digits request.json\n  falaj infer digits --row 0,0,5,13,9,1,…", 0 },

    { "tenant", "create", "NAME", 1, 1,
      FLAGS({ "zone", 0, "CODE", "Home zone", NULL }, { "allowed-zones", 0, "A,B", "Zones its data may be in (the home zone)", NULL },
            { "display-name", 0, "TEXT", "Name for people", NULL }, { "admin-name", 0, "NAME", "Name of its first user", NULL }),
      run_rest, "Create a tenant and its first administrator", "The answer holds the administrator's token, shown this once.", 0, NULL, "POST", "/v1/tenants", NULL,
      "name=@0 home_zone=zone *allowed_zones=allowed-zones display_name=display-name admin_name=admin-name", TENANT_COLUMNS },
    { "tenant", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List tenants", NULL, CMD_LIST, NULL, "GET", "/v1/tenants", NULL, NULL, TENANT_COLUMNS },
    { "tenant", "get", "TENANT", 1, 1, NULL, run_rest, "Show one tenant", NULL, 0, &tenant_noun, "GET", "/v1/tenants/{0}", NULL, NULL, TENANT_COLUMNS },
    { "zone", "create", "CODE NAME COUNTRY", 3, 3, FLAGS({ "regimes", 0, "A,B", "Legal regimes that hold there", NULL }), run_rest, "Create a residency zone",
      "  falaj zone create ae-dxb-1 \"Dubai 1\" AE", 0, NULL, "POST", "/v1/zones", NULL, "code=@0 name=@1 country=@2 *legal_regimes=regimes", "code:CODE name:NAME country:COUNTRY" },
    { "zone", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List residency zones", NULL, CMD_LIST, NULL, "GET", "/v1/zones", NULL, NULL,
      "code:CODE name:NAME country:COUNTRY legal_regimes:REGIMES" },
    { "user", "create", "NAME", 1, 1, FLAGS({ "kind", 0, "KIND", "What it is", "person|service" }, { "roles", 0, "A,B", "Roles to begin with", NULL }), run_rest, "Create a user", NULL, 0, NULL,
      "POST", "/v1/users", NULL, "name=@0 kind=kind *roles=roles", "user_id:ID name:NAME kind:KIND" },
    { "user", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List users", NULL, CMD_LIST, NULL, "GET", "/v1/users", NULL, NULL,
      "user_id:ID name:NAME kind:KIND state:STATE roles:ROLES" },
    { "role", "grant", "USER ROLE", 2, 2, NULL, run_rest, "Grant a role to a user", "USER is an id (usr_…).", 0, NULL, "POST", "/v1/role-bindings", NULL, "user_id=@0 role=@1",
      "binding_id:ID user_id:USER role:ROLE" },
    { "role", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List who has which role", NULL, CMD_LIST, NULL, "GET", "/v1/role-bindings", NULL, NULL,
      "binding_id:ID user_id:USER role:ROLE +created_at:CREATED" },
    { "role", "revoke", "BINDING", 1, 1, NULL, run_rest, "Take a role back", NULL, 0, NULL, "DELETE", "/v1/role-bindings/{0}", NULL, NULL, "binding_id:ID" },
    { "token", "create", "NAME", 1, 1,
      FLAGS({ "user", 0, "USER", "Whose token (your own)", NULL }, { "days", 0, "N", "Days until it expires (30)", NULL }, { "scopes", 0, "A,B", "Only these permissions", NULL }),
      run_rest, "Create an API token", "The token is shown this once.", 0, NULL, "POST", "/v1/api-tokens", NULL, "name=@0 user_id=user #expires_in_days=days *scopes=scopes",
      "token_id:ID name:NAME token:TOKEN expires_at:EXPIRES" },
    { "token", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List API tokens", NULL, CMD_LIST, NULL, "GET", "/v1/api-tokens", NULL, NULL,
      "token_id:ID name:NAME user_id:USER hint:HINT expires_at:EXPIRES revoked_at:REVOKED" },
    { "token", "revoke", "TOKEN_ID", 1, 1, NULL, run_rest, "Revoke an API token", NULL, 0, NULL, "DELETE", "/v1/api-tokens/{0}", NULL, NULL, "token_id:ID" },
    { "quota", "list", "", 0, 0, FLAGS({ "tenant", 0, "TENANT", "Name or id of a tenant (your own)", NULL }), cmd_quota_list, "Show quotas and what is used", NULL, 0, &tenant_noun, "GET", "/v1/quotas",
      NULL, NULL, "resource:RESOURCE used:USED hard_limit:LIMIT" },
    { "quota", "set", "TENANT RESOURCE LIMIT", 3, 3, NULL, cmd_quota_set, "Set a tenant's quota", "RESOURCE is one of jobs slots gpus stored_bytes objects running_jobs pending_jobs\n  api_rate_per_minute.", 0, &tenant_noun, "PUT",
      "/v1/tenants/{0}/quotas/{1}", NULL, "#hard_limit=@2", "resource:RESOURCE hard_limit:LIMIT" },
    { "rule", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List quota rules with what is used of each", NULL, CMD_LIST, NULL, "GET", "/v1/quota-rules", NULL, NULL,
      "rule_id:ID place:PLACE project_id:PROJECT queue:QUEUE resource:RESOURCE flavor:FLAVOR zone:ZONE nominal:NOMINAL used:USED weight:WEIGHT" },
    { "rule", "create", "PLACE RESOURCE NOMINAL", 3, 3,
      FLAGS({ "queue", 0, "NAME", "The queue", NULL }, { "project", 0, "PROJECT", "The project (prj_…)", NULL }, { "flavor", 0, "NAME", "Flavor of machine (all)", NULL },
            { "zone", 0, "CODE", "Zone (all)", NULL }, { "borrowing-limit", 0, "N", "Most it may take of what others do not use (no limit)", NULL },
            { "lending-limit", 0, "N", "Most that others may take of it (all)", NULL }, { "weight", 0, "N", "1000 is usual", NULL }),
      run_rest, "Divide the tenant's quota: a rule of a project or queue", "PLACE is project or queue, RESOURCE slots or gpus.\n  falaj rule create queue gpus 4 --queue night", 0, NULL,
      "POST", "/v1/quota-rules", NULL, "place=@0 resource=@1 #nominal=@2 queue=queue project_id=project flavor=flavor zone=zone #borrowing_limit=borrowing-limit "
      "#lending_limit=lending-limit #weight=weight", "rule_id:ID place:PLACE queue:QUEUE resource:RESOURCE nominal:NOMINAL" },
    { "budget", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "List budgets and where they stand", NULL, CMD_LIST, NULL, "GET", "/v1/budgets", NULL, NULL,
      "budget_id:ID name:NAME measure:MEASURE amount:AMOUNT currency:CURRENCY period:PERIOD used:USED forecast:FORECAST state:STATE" },
    { "budget", "create", "NAME MEASURE AMOUNT PERIOD", 4, 4,
      FLAGS({ "currency", 0, "CODE", "Of a budget of money", NULL }, { "project", 0, "PROJECT", "Of this project (prj_…)", NULL },
            { "stop-percent", 0, "N", "Stop at this threshold (only warn)", NULL }),
      run_rest, "Make a budget", "MEASURE is money, gpu_hours or kwh, PERIOD month or total.\n  falaj budget create research money 500000 month --currency AED --stop-percent 100", 0, NULL,
      "POST", "/v1/budgets", NULL, "name=@0 measure=@1 #amount=@2 period=@3 currency=currency project_id=project #stop_percent=stop-percent",
      "budget_id:ID name:NAME measure:MEASURE amount:AMOUNT" },
    { "price", "list", "", 0, 0, FLAGS(LIMIT_FLAG), run_rest, "Show the price book", NULL, CMD_LIST, NULL, "GET", "/v1/prices", NULL, NULL,
      "flavor:FLAVOR valid_from:FROM currency:CURRENCY slot_hour:SLOT_HOUR gpu_hour:GPU_HOUR kwh:KWH slot_watts:SLOT_WATTS gpu_watts:GPU_WATTS" },
    { "price", "add", "FLAVOR CURRENCY", 2, 2,
      FLAGS({ "slot-hour", 0, "N", "Minor units for a slot and hour", NULL }, { "gpu-hour", 0, "N", "Minor units for a GPU and hour", NULL }, { "kwh", 0, "N", "Minor units for a kWh", NULL },
            { "slot-watts", 0, "N", "Watts of a booked slot", NULL }, { "gpu-watts", 0, "N", "Watts of a booked GPU", NULL }, { "from", 0, "TIME", "From then on (now)", NULL }),
      run_rest, "Add a price to the book", NULL, 0, NULL, "POST", "/v1/prices", NULL,
      "flavor=@0 currency=@1 #slot_hour=slot-hour #gpu_hour=gpu-hour #kwh=kwh #slot_watts=slot-watts #gpu_watts=gpu-watts valid_from=from", "price_id:ID flavor:FLAVOR valid_from:FROM" },
    { NULL, "usage", "", 0, 0, FLAGS({ "days", 0, "N", "Days to look back (30)", NULL }), run_rest, "Show what was used, per day, zone and pool", NULL, 0, NULL, "GET", "/v1/usage",
      "days=days", NULL, "day:DAY zone:ZONE pool:POOL attempts:ATTEMPTS slot_ms:SLOT_MS gpu_ms:GPU_MS" },
    { "node", "list", "", 0, 0,
      FLAGS(LIMIT_FLAG, { "zone", 0, "CODE", "Only of this zone", NULL }, { "pool", 0, "POOL", "Only of this pool", NULL },
            { "state", 0, "STATE", "Only in this state", "READY|DRAINING|QUARANTINED|LOST" }, { "sort", 0, "ORDER", "Newest first, or by name", "-created_at|name" }),
      run_rest, "List worker machines", NULL, CMD_LIST, NULL, "GET", "/v1/nodes", "zone=zone pool=pool state=state sort=sort", NULL, NODE_COLUMNS },
    { "node", "get", "NODE", 1, 1, NULL, run_rest, "Show one worker machine", NULL, 0, &node_noun, "GET", "/v1/nodes/{0}", NULL, NULL, NODE_COLUMNS },
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

    { "audit", "events", "", 0, 0, FLAGS({ "after", 0, "N", "Only entries after this number", NULL }, LIMIT_FLAG), run_rest, "List audit entries", NULL, CMD_LIST | CMD_AFTER, NULL, "GET", "/v1/audit/events",
      "after=after", NULL, "tseq:ENTRY event.code:CODE event.action:ACTION event.actor.id:ACTOR event.outcome:OUTCOME event_id:ID" },
    { "audit", "head", "", 0, 0, NULL, run_rest, "Show the newest signed head of the log", NULL, 0, NULL, "GET", "/v1/audit/head", NULL, NULL, "size:SIZE root:ROOT" },
    { "audit", "export", "[FILE]", 0, 1, FLAGS({ "from", 0, "N", "First entry", NULL }, { "to", 0, "N", "Last entry", NULL }), cmd_audit_export,
      "Export the log with its proofs", "Verify it with 'falaj audit verify' or falaj-verify; both need no network.", 0, NULL, "GET", "/v1/audit/export", "from=from to=to" },
    { "audit", "verify", "BUNDLE", 1, 1,
      FLAGS({ "key", 0, "FILE", "Public key of the zone that must have signed (PEM, base64 or hex); may be repeated by one file with several lines", NULL },
            { "allow-dropped", 0, NULL, "Accept entries whose text retention has dropped", NULL }),
      cmd_audit_verify, "Check an exported log offline", "Ends with 2 and names the entry when the bundle is damaged, as falaj-verify does.", CMD_LOCAL },

    { NULL, "api", "METHOD PATH", 2, 2, FLAGS({ "data", 'd', "JSON", "Body; @FILE reads a file, @- standard input", NULL }, { "type", 0, "TYPE", "Content type of the body", NULL }), cmd_api,
      "Make any call of the API", "  falaj api GET /v1/jobs?page_size=5", 0 },
    { NULL, "doctor", "", 0, 0, FLAGS(DEV_FLAGS), cmd_doctor, "Check this machine, its programs and a running platform", NULL, CMD_LOCAL },
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
