/* SPDX-License-Identifier: Apache-2.0 */
/* scim_schema.c - the attribute table and its printing. */
#include "tenants/identity/scim_schema.h"
#include "tenants/identity/scim.h"

#define END { .name = NULL }

static const struct scim_attr name_subs[] = {
    { "formatted", SCIM_STRING, .max = 256, .doc = "The whole name as it is shown" },
    { "familyName", SCIM_STRING, .max = 256, .doc = "Family name" },
    { "givenName", SCIM_STRING, .max = 256, .doc = "Given name" },
    END };
static const struct scim_attr email_subs[] = {
    { "value", SCIM_STRING, .required = true, .max = 254, .doc = "The address" },
    { "type", SCIM_STRING, .max = 32, .doc = "work, home or other" },
    { "primary", SCIM_BOOLEAN, .doc = "The one to write to; at most one is" },
    { "display", SCIM_STRING, .max = 256, .doc = "As it is shown" },
    END };
static const struct scim_attr group_subs[] = {
    { "value", SCIM_STRING, SCIM_READ_ONLY, .case_exact = true, .max = 64, .doc = "The group's id" },
    { "$ref", SCIM_REFERENCE, SCIM_READ_ONLY, .case_exact = true, .max = 256, .doc = "Where the group is" },
    { "display", SCIM_STRING, SCIM_READ_ONLY, .max = 256, .doc = "The group's name" },
    END };
static const struct scim_attr member_subs[] = {
    { "value", SCIM_STRING, SCIM_IMMUTABLE, .required = true, .case_exact = true, .max = 64, .doc = "The user's id" },
    { "$ref", SCIM_REFERENCE, SCIM_IMMUTABLE, .case_exact = true, .max = 512, .doc = "Where the user is" },
    { "type", SCIM_STRING, SCIM_IMMUTABLE, .max = 32, .doc = "User" },
    { "display", SCIM_STRING, SCIM_READ_ONLY, .max = 256, .doc = "The user's name" },
    END };
static const struct scim_attr meta_subs[] = {
    { "resourceType", SCIM_STRING, SCIM_READ_ONLY, .case_exact = true, .doc = "User or Group" },
    { "created", SCIM_DATETIME, SCIM_READ_ONLY, .doc = "When it was made" },
    { "lastModified", SCIM_DATETIME, SCIM_READ_ONLY, .doc = "When provisioning last changed it" },
    { "location", SCIM_REFERENCE, SCIM_READ_ONLY, .case_exact = true, .doc = "Where it is" },
    { "version", SCIM_STRING, SCIM_READ_ONLY, .case_exact = true, .doc = "Its ETag" },
    END };

#define COMMON(prefix)                                                                                                               \
    { "id", SCIM_STRING, SCIM_READ_ONLY, .case_exact = true, .unique = true, .common = true, .always = true, .max = 64, .doc = prefix }, \
    { "externalId", SCIM_STRING, .case_exact = true, .common = true, .max = 256, .doc = "The provider's own id" },                   \
    { "meta", SCIM_COMPLEX, SCIM_READ_ONLY, .common = true, .subs = meta_subs, .doc = "About the resource" }

static const struct scim_attr user_attrs[] = {
    COMMON("The user's id"),
    { "userName", SCIM_STRING, .required = true, .unique = true, .max = 128, .doc = "The name to sign in by, unique in the tenant" },
    { "name", SCIM_COMPLEX, .subs = name_subs, .doc = "The parts of the person's name" },
    { "displayName", SCIM_STRING, .max = 256, .doc = "The name to show" },
    { "active", SCIM_BOOLEAN, .doc = "false: sessions and tokens end, and nothing lets the user in until it is true again" },
    { "emails", SCIM_COMPLEX, .multi = true, .max = SCIM_EMAILS_MAX, .subs = email_subs, .doc = "Addresses" },
    { "groups", SCIM_COMPLEX, SCIM_READ_ONLY, .multi = true, .subs = group_subs, .doc = "The groups that the user is in" },
    END };
static const struct scim_attr group_attrs[] = {
    COMMON("The group's id"),
    { "displayName", SCIM_STRING, .required = true, .unique = true, .max = 128, .doc = "Its name, unique in the tenant" },
    { "members", SCIM_COMPLEX, .multi = true, .max = SCIM_MEMBERS_MAX, .subs = member_subs, .doc = "The users that are in it" },
    END };

const struct scim_resource scim_user_resource = { "User", "urn:ietf:params:scim:schemas:core:2.0:User", "/Users", "usr", "A person", user_attrs };
const struct scim_resource scim_group_resource = { "Group", "urn:ietf:params:scim:schemas:core:2.0:Group", "/Groups", "grp", "A group of people",
                                                   group_attrs };
static const struct scim_resource *const resources[] = { &scim_user_resource, &scim_group_resource };
enum { RESOURCES = sizeof resources / sizeof *resources };

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

bool scim_name_eq(struct str a, struct str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (folded(a.ptr[i]) != folded(b.ptr[i]))
            return false;
    return true;
}

const struct scim_attr *scim_attr_find(const struct scim_attr *attrs, struct str name)
{
    for (const struct scim_attr *a = attrs; a && a->name; a++)
        if (scim_name_eq(str_c(a->name), name))
            return a;
    return NULL;
}

bool scim_path_find(const struct scim_resource *r, struct str path, const struct scim_attr **ret, const struct scim_attr **ret_sub)
{
    struct str urn = str_c(r->urn), head, rest;
    if (path.len > urn.len && path.ptr[urn.len] == ':' && scim_name_eq(str_n(path.ptr, urn.len), urn))
        path = str_n(path.ptr + urn.len + 1, path.len - urn.len - 1);
    bool has_sub = str_cut(path, '.', &head, &rest);
    *ret = scim_attr_find(r->attrs, head);
    *ret_sub = *ret && has_sub ? scim_attr_find((*ret)->subs, rest) : NULL;
    return *ret && (!has_sub || *ret_sub);
}

static void print_attrs(const struct scim_attr *attrs, struct buf *out)
{
    static const char *const types[] = { "string", "boolean", "dateTime", "reference", "complex" };
    static const char *const mutabilities[] = { "readWrite", "readOnly", "immutable" };
    bool first = true;
    buf_add_char(out, '[');
    for (const struct scim_attr *a = attrs; a->name; a++) {
        if (a->common)
            continue;
        buf_printf(out, "%s{\"name\":\"%s\",\"type\":\"%s\",\"multiValued\":%s,\"description\":", first ? "" : ",", a->name, types[a->type],
                   a->multi ? "true" : "false");
        buf_add_json(out, str_c(a->doc));
        buf_printf(out, ",\"required\":%s,\"caseExact\":%s,\"mutability\":\"%s\",\"returned\":\"default\",\"uniqueness\":\"%s\"",
                   a->required ? "true" : "false", a->case_exact ? "true" : "false", mutabilities[a->mutability], a->unique ? "server" : "none");
        if (a->type == SCIM_REFERENCE)
            buf_printf(out, ",\"referenceTypes\":[\"%s\"]", attrs == group_subs ? "Group" : "User");
        if (a->subs) {
            buf_add_c(out, ",\"subAttributes\":");
            print_attrs(a->subs, out);
        }
        buf_add_char(out, '}');
        first = false;
    }
    buf_add_char(out, ']');
}

static void print_schema(const struct scim_resource *r, struct buf *out)
{
    buf_printf(out, "{\"schemas\":[\"urn:ietf:params:scim:schemas:core:2.0:Schema\"],\"id\":\"%s\",\"name\":\"%s\",\"description\":\"%s\","
                    "\"attributes\":", r->urn, r->name, r->doc);
    print_attrs(r->attrs, out);
    buf_printf(out, ",\"meta\":{\"resourceType\":\"Schema\",\"location\":\"/scim/v2/Schemas/%s\"}}", r->urn);
}

static void print_type(const struct scim_resource *r, struct buf *out)
{
    buf_printf(out, "{\"schemas\":[\"urn:ietf:params:scim:schemas:core:2.0:ResourceType\"],\"id\":\"%s\",\"name\":\"%s\",\"endpoint\":\"%s\","
                    "\"description\":\"%s\",\"schema\":\"%s\",\"schemaExtensions\":[],\"meta\":{\"resourceType\":\"ResourceType\","
                    "\"location\":\"/scim/v2/ResourceTypes/%s\"}}", r->name, r->name, r->endpoint, r->doc, r->urn, r->name);
}

static void print_list(void (*one)(const struct scim_resource *r, struct buf *out), struct buf *out)
{
    buf_printf(out, "{\"schemas\":[\"" SCIM_LIST_URN "\"],\"totalResults\":%d,\"startIndex\":1,\"itemsPerPage\":%d,\"Resources\":[", RESOURCES,
               RESOURCES);
    for (int i = 0; i < RESOURCES; i++) {
        buf_add_c(out, i ? "," : "");
        one(resources[i], out);
    }
    buf_add_c(out, "]}");
}

bool scim_print_types(struct str which, struct buf *out)
{
    if (!which.ptr)
        print_list(print_type, out);
    for (int i = 0; which.ptr && i < RESOURCES; i++)
        if (str_eq_c(which, resources[i]->name)) {
            print_type(resources[i], out);
            return true;
        }
    return !which.ptr;
}

bool scim_print_schemas(struct str which, struct buf *out)
{
    if (!which.ptr)
        print_list(print_schema, out);
    for (int i = 0; which.ptr && i < RESOURCES; i++)
        if (scim_name_eq(which, str_c(resources[i]->urn))) {
            print_schema(resources[i], out);
            return true;
        }
    return !which.ptr;
}

void scim_print_config(struct buf *out)
{
    buf_printf(out, "{\"schemas\":[\"urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig\"],\"patch\":{\"supported\":true},"
                    "\"bulk\":{\"supported\":false,\"maxOperations\":0,\"maxPayloadSize\":0},"
                    "\"filter\":{\"supported\":true,\"maxResults\":%d},\"changePassword\":{\"supported\":false},\"sort\":{\"supported\":false},"
                    "\"etag\":{\"supported\":true},\"authenticationSchemes\":[{\"type\":\"oauthbearertoken\",\"name\":\"Access token\","
                    "\"description\":\"An access token of a service account that holds the role provisioner\","
                    "\"specUri\":\"https://www.rfc-editor.org/rfc/rfc6750\",\"primary\":true}],"
                    "\"meta\":{\"resourceType\":\"ServiceProviderConfig\",\"location\":\"/scim/v2/ServiceProviderConfig\"}}", SCIM_PAGE_MAX);
}
