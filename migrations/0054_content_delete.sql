-- SPDX-License-Identifier: Apache-2.0
-- Data sets and models can be deleted (functions/content_delete.sql). The register of transfers outlives what was transferred: it
-- keeps the ids of a data set that is gone. N-1: additive, and a foreign key less.
SET LOCAL ROLE falaj_owner;

ALTER TABLE transfer DROP CONSTRAINT transfer_tenant_id_dataset_id_version_fkey;
GRANT DELETE ON dataset, dataset_version, model, model_version, deployment TO falaj_app;
