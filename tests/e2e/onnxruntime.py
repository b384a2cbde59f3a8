#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""onnxruntime.py LIBRARY - a whole platform, one of whose two machines has ONNX Runtime: all that needs it goes there, though the
other is the better fit for each. Two versions with operators that ours lacks are imported and named by their engine, deployed,
rolled from one to the other under calls of which none may fail, run in a batch with the numbers of the deployment; a call without
end is stopped, and so is a row of a batch. numpy says what is right. Needs python3-onnx."""
import json, os, subprocess, sys, tempfile, threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
import numpy, onnx
from onnx import TensorProto as T, helper as h
from machine_falaj import Machine
from platform_falaj import BIN, Api, Platform, until

ENDED = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "OUT_OF_MEMORY", "NODE_FAIL", "DEADLINE", "REJECTED", "PREEMPTED")
COLUMNS, ROWS, CALLERS = 6, 700, 3


def save(path, nodes):
    x, y = (h.make_tensor_value_info(name, T.FLOAT, ["N", COLUMNS]) for name in "xy")
    model = h.make_model(h.make_graph(nodes, "odd", [x], [y]), opset_imports=[h.make_opsetid("", 18)])
    model.ir_version = 8
    with open(path, "wb") as f:
        f.write(model.SerializeToString())


def squares():
    return [h.make_node("Einsum", ["x", "x"], ["y"], name="square", equation="bi,bi->bi")]


def cubes():
    return [h.make_node("Einsum", ["x", "x", "x"], ["y"], name="cube", equation="bi,bi,bi->bi")]


def turns():
    """y = |x|, turned as often as the largest number says."""
    values = [h.make_tensor_value_info("turn", T.INT64, []), h.make_tensor_value_info("goes", T.BOOL, []),
              h.make_tensor_value_info("was", T.FLOAT, ["N", COLUMNS])]
    made = [h.make_tensor_value_info("still", T.BOOL, []), h.make_tensor_value_info("is", T.FLOAT, ["N", COLUMNS])]
    stay, turn = h.make_node("Identity", ["goes"], ["still"], name="stay"), h.make_node("Abs", ["was"], ["is"], name="turn")
    body = h.make_graph([stay, turn], "body", values, made)
    return [h.make_node("ReduceMax", ["x"], ["most"], name="most"),
            h.make_node("Cast", ["most"], ["turns"], name="count", to=T.INT64),
            h.make_node("Loop", ["turns", "", "x"], ["y"], name="turned", body=body)]


def call(rows, **parameters):
    return {"parameters": parameters, "inputs": [{"name": "x", "datatype": "FP32", "shape": list(rows.shape),
                                                  "data": [float(v) for v in rows.reshape(-1)]}]}


def close(got, want):
    return numpy.allclose(numpy.array(got), want.reshape(-1), rtol=1e-5, atol=1e-6)


def main():
    p = Platform({"FALAJ_WORKER_ONNXRUNTIME": os.path.realpath(sys.argv[1])})
    api, made = p.tenant("engine", zone=p.zone())[1], tempfile.mkdtemp(prefix="falaj-engine-")
    env = {**os.environ, "FALAJ_URL": p.url, "FALAJ_TOKEN": api.token, "HOME": made}
    rows = numpy.random.RandomState(3).randn(ROWS, COLUMNS).astype("f4")

    def said(*words):
        command = [os.path.join(BIN, "falaj"), *words, "-o", "json"]
        return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, cwd=made)

    def falaj(*words):
        r = said(*words)
        if r.returncode:
            raise SystemExit(f"falaj {words}: {r.returncode} {r.stdout} {r.stderr}")
        return json.loads(r.stdout)

    # A job of one slot goes to the machine that has the fewest left, which is this one.
    second = Machine(p, "second", **{"worker.slots": "1"})
    nodes = until("two machines", lambda: len(n := api.must("GET", "/v1/nodes")["data"]) == 2 and n)
    engines = {n["name"]: n["engines"] for n in nodes}
    assert "onnxruntime" not in engines.pop("second"), nodes
    assert [e.startswith("onnxruntime 1.") for e in engines.values()] == [True], nodes

    for name, nodes in (("squares", squares()), ("cubes", cubes()), ("turns", turns())):
        save(os.path.join(made, name + ".onnx"), nodes)
    r = said("model", "import", "squares.onnx", "--name", "odd")
    assert r.returncode and "submit with engine onnxruntime" in r.stderr, (r.stdout, r.stderr)
    wanted = ("--engine", "onnxruntime")
    first = falaj("model", "import", "squares.onnx", "--name", "odd", *wanted)
    newer = falaj("model", "import", "cubes.onnx", "--name", "odd", *wanted)
    assert (first["engine"], first["version"], newer["version"]) == ("onnxruntime", 1, 2), (first, newer)
    deployed = falaj("deploy", "create", "odd", "odd", "--version", "1", "--wait")
    assert deployed["engine"] == "onnxruntime", deployed
    assert falaj("deploy", "get", "odd")["engine"] == "onnxruntime"
    answer = api.must("POST", "/v2/models/odd/infer", call(rows[:5]))
    assert answer["model_version"] == "1" and close(answer["outputs"][0]["data"], rows[:5] ** 2), answer
    print("imported, named and deployed: ONNX Runtime computes it")

    # Callers go on while it rolls; each answer is one version's, and in the end all are the second's.
    stop, faults, seen = threading.Event(), [], {"1": 0, "2": 0}

    def ask(seed):
        own, some = Api(p.url, api.token), rows[seed:seed + 3]
        while not stop.is_set():
            status, got = own.call("POST", "/v2/models/odd/infer", call(some))
            version = got.get("model_version") if status == 200 else None
            if version not in seen or not close(got["outputs"][0]["data"], some ** (2 if version == "1" else 3)):
                faults.append((status, got))
                return
            seen[version] += 1

    callers = [threading.Thread(target=ask, args=(i,)) for i in range(CALLERS)]
    for t in callers:
        t.start()
    until("calls of the first", lambda: seen["1"] > 20 or faults)
    rolled = falaj("deploy", "roll", "odd", "--version", "2", "--wait")
    until("calls of the second", lambda: seen["2"] > 20 or faults)
    stop.set()
    for t in callers:
        t.join()
    assert not faults and rolled["model_version"] == 2, (faults[:3], rolled)
    print(f"rolled under {sum(seen.values())} calls, none failed: {seen}")

    # A batch: the deployment's numbers, row by row.
    with open(os.path.join(made, "rows.csv"), "w") as f:
        f.write(",".join(f"c{i}" for i in range(COLUMNS)) + "\n")
        f.writelines(",".join(repr(float(v)) for v in row) + "\n" for row in rows)
    falaj("dataset", "create", "rows", "--target", "none")
    falaj("dataset", "upload", "rows", "rows.csv")
    data = api.must("GET", "/v1/datasets?page_size=200")["data"]
    data = [d["dataset_id"] for d in data if d["name"] == "rows"][0]
    spec = {"model_id": first["model_id"], "model_version": 2, "dataset_id": data}
    job = api.must("POST", "/v1/jobs", {"name": "rows", "kind": "batch", "spec": spec})["job_id"]
    j = until("the batch", lambda: (j := api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j)
    assert j["state"] == "COMPLETED" and j["result"]["rows"] == ROWS and j["engine"] == "onnxruntime", j
    lines = api.call("GET", f"/v1/jobs/{job}/outputs/result", raw=True)[1].decode().split()
    got = numpy.array([[float(v) for v in line.split(",")] for line in lines[1:]])
    assert got.shape == rows.shape and close(got.reshape(-1), rows ** 3), got[:3]
    online = api.must("POST", "/v2/models/odd/infer", call(rows[:64]))["outputs"][0]["data"]
    assert numpy.array_equal(numpy.float32(online), got[:64].reshape(-1).astype("f4"))
    print(f"a batch of {ROWS} rows, with the deployment's numbers")

    # A call without end has its own time, and the deployment serves on.
    falaj("model", "import", "turns.onnx", "--name", "turns", *wanted)
    falaj("deploy", "create", "turns", "turns", "--wait")
    endless = numpy.full((1, COLUMNS), 1e15, "f4")
    status, got = api.call("POST", "/v2/models/turns/infer", call(endless, timeout=3000000))
    assert status == 504 and "still computing" in json.dumps(got), (status, got)
    answer = api.must("POST", "/v2/models/turns/infer", call(rows[:2]))
    assert len(answer["outputs"][0]["data"]) == 2 * COLUMNS
    print(f"a call without end: {status} {json.dumps(got)}")

    # So is a row of a batch, which is named with its bound; its neighbours were computed.
    with open(os.path.join(made, "rows.csv"), "w") as f:
        f.write(",".join(f"c{i}" for i in range(COLUMNS)) + "\n")
        f.writelines(",".join("1e15" if i == 30 else "1" for _ in range(COLUMNS)) + "\n" for i in range(64))
    falaj("dataset", "upload", "rows", "rows.csv")
    turning = [m["model_id"] for m in api.must("GET", "/v1/models")["data"] if m["name"] == "turns"][0]
    spec = {"model_id": turning, "dataset_id": data, "max_call_seconds": 2}
    job = api.must("POST", "/v1/jobs", {"name": "rows", "kind": "batch", "spec": spec, "max_attempts": 1})["job_id"]
    j = until("the batch without end", lambda: (j := api.must("GET", f"/v1/jobs/{job}"))["state"] in ENDED and j)
    assert j["state"] == "FAILED" and "row 31: the model was still computing" in j["message"], j
    assert "(max_call_seconds: 2)" in j["message"], j
    print(f"a row without end: {j['message']}")
    second.kill()
    p.close()


main()
