-- SPDX-License-Identifier: Apache-2.0
-- The classes of data, least to most protected, as tenants/residency.h has them.
CREATE OR REPLACE FUNCTION data_classes() RETURNS text[] LANGUAGE sql IMMUTABLE AS
$$ SELECT '{public,internal,personal,sensitive,health,banking,gov}'::text[] $$;
