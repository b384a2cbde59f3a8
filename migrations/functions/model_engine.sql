-- SPDX-License-Identifier: Apache-2.0
-- What computes a version of a model: falaj, or onnxruntime for operators that falaj lacks. Runs as its caller, behind row-level
-- security; NULL: there is no such version for who asks.
CREATE OR REPLACE FUNCTION model_engine(t uuid, model uuid, number bigint) RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog, public, pg_temp AS $$
  SELECT CASE v.family WHEN 'onnx' THEN 'onnxruntime' ELSE 'falaj' END
    FROM model_version v WHERE v.tenant_id = t AND v.model_id = model AND v.version = number
$$;
GRANT EXECUTE ON FUNCTION model_engine(uuid, uuid, bigint) TO falaj_app;
