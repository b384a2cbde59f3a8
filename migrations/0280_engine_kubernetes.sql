-- SPDX-License-Identifier: Apache-2.0
-- 0280 - engines of the kind kubernetes: the image of their worker, and the nodes that its pods may have (ADR 0144).
-- N-1: additive. A scheduler of the release before knows no such kind and asks nothing of it: its jobs wait until one of this
-- release leads again.
SET LOCAL ROLE falaj_owner;
ALTER TABLE engine
  DROP CONSTRAINT engine_kind_check,
  ADD CONSTRAINT engine_kind_check CHECK (kind IN ('slurm', 'kubernetes')),
  ADD COLUMN image         text NOT NULL DEFAULT '' CHECK (length(image) <= 512),
  ADD COLUMN node_selector text NOT NULL DEFAULT '' CHECK (length(node_selector) <= 512),
  ADD COLUMN tolerations   text NOT NULL DEFAULT '' CHECK (length(tolerations) <= 512),
  ADD CONSTRAINT engine_image_kind CHECK ((kind = 'kubernetes') = (image <> ''));
