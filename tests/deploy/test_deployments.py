"""The files of `deploy/` and the image: valid, with what they name, and with the releases of the lock."""

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner, Result

from support.command_line import JURY, environment
from support.each_row import each_row

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())
RAYJOB = yaml.safe_load((ROOT / "deploy" / "rayjob.yaml").read_text())
DOCKERFILE = re.sub(r"\\\n\s*", " ", re.sub(r"(?m)^#.*\n", "", (ROOT / "Dockerfile").read_text()))
INSTRUCTIONS = [tuple(line.split(" ", 1)) for line in DOCKERFILE.splitlines() if line.strip()]

_POD = {
    "type": "object",
    "required": ["spec"],
    "additionalProperties": False,
    "properties": {
        "spec": {
            "type": "object",
            "required": ["containers"],
            "additionalProperties": False,
            "properties": {
                "securityContext": {"type": "object"},
                "volumes": {"type": "array"},
                "containers": {
                    "type": "array",
                    "minItems": 1,
                    "items": {
                        "type": "object",
                        "required": ["name", "image", "resources"],
                        "properties": {"name": {"type": "string"}, "image": {"type": "string"}},
                    },
                },
            },
        }
    },
}
RAYJOB_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["apiVersion", "kind", "metadata", "spec"],
    "properties": {
        "apiVersion": {"const": "ray.io/v1"},
        "kind": {"const": "RayJob"},
        "spec": {
            "type": "object",
            "required": ["entrypoint", "rayClusterSpec"],
            "additionalProperties": False,
            "properties": {
                "entrypoint": {"type": "string"},
                "backoffLimit": {"type": "integer", "minimum": 0},
                "shutdownAfterJobFinishes": {"type": "boolean"},
                "ttlSecondsAfterFinished": {"type": "integer"},
                "rayClusterSpec": {
                    "type": "object",
                    "required": ["headGroupSpec"],
                    "additionalProperties": False,
                    "properties": {
                        "rayVersion": {"type": "string"},
                        "authOptions": {"properties": {"mode": {"enum": ["disabled", "token"]}}},
                        "headGroupSpec": {
                            "required": ["template"],
                            "additionalProperties": False,
                            "properties": {"rayStartParams": {"type": "object"}, "template": _POD},
                        },
                        "workerGroupSpecs": {
                            "type": "array",
                            "items": {
                                "required": ["groupName", "template"],
                                "additionalProperties": False,
                                "properties": {
                                    "groupName": {"type": "string"},
                                    "replicas": {"type": "integer"},
                                    "minReplicas": {"type": "integer"},
                                    "maxReplicas": {"type": "integer"},
                                    "rayStartParams": {"type": "object"},
                                    "template": _POD,
                                },
                            },
                        },
                    },
                },
            },
        },
    },
}
"""The fields of KubeRay's RayJob that the file uses; the whole schema is in no package."""


def of(instruction: str) -> list[str]:
    """The arguments of an instruction, in the order of the file."""
    return [rest for name, rest in INSTRUCTIONS if name == instruction]


SCHEMAS = {
    "deploy/compose.yaml": "vendor.compose-spec",
    "action.yml": "vendor.github-actions",
    ".github/workflows/release.yml": "vendor.github-workflows",
    "examples/ci/jury-gate.yml": "vendor.github-workflows",
    "examples/ci/gitlab-ci.yml": "vendor.gitlab-ci",
}
"""The published schema of each file, as check-jsonschema ships it."""


def check_jsonschema(arguments: list[str]) -> Result:
    from check_jsonschema import main

    return CliRunner().invoke(main, arguments)


@each_row("name", SCHEMAS)
def test_a_file_is_valid_by_its_published_schema(name: str) -> None:
    done = check_jsonschema(["--builtin-schema", SCHEMAS[name], str(ROOT / name)])

    assert 0 == done.exit_code, done.output


def test_a_published_schema_refuses_what_it_does_not_know(tmp_path: Path) -> None:
    broken = tmp_path / "compose.yaml"
    broken.write_text((ROOT / "deploy" / "compose.yaml").read_text().replace("    command:", "    comand:"))

    assert 1 == check_jsonschema(["--builtin-schema", "vendor.compose-spec", str(broken)]).exit_code


def test_the_services_of_the_composition_are_there() -> None:
    assert {"postgres", "upgrade", "serve", "head", "worker", "run"} == set(COMPOSE["services"])
    for name, service in COMPOSE["services"].items():
        assert set(service.get("depends_on", {})) <= set(COMPOSE["services"]), name
        named = {str(one).split(":", 1)[0] for one in service.get("volumes", [])}
        assert {one for one in named if not one.startswith(".")} <= set(COMPOSE["volumes"]), name


def test_the_composition_publishes_on_loopback_only_and_has_no_secret() -> None:
    ports = [port for service in COMPOSE["services"].values() for port in service.get("ports", [])]
    secret = re.compile("PASSWORD|TOKEN|KEY")
    values = {
        str(value)
        for service in COMPOSE["services"].values()
        for name, value in service["environment"].items()
        if secret.search(name)
    }

    assert ["127.0.0.1:8765:8765"] == ports
    assert all("${" in value for value in values)


def test_the_job_of_kuberay_is_valid_and_resumable() -> None:
    import jsonschema

    jsonschema.validate(RAYJOB, RAYJOB_SCHEMA)
    locked = {one["name"]: one["version"] for one in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}

    assert locked["ray"] == RAYJOB["spec"]["rayClusterSpec"]["rayVersion"]
    assert "token" == RAYJOB["spec"]["rayClusterSpec"]["authOptions"]["mode"]
    assert " --run " in RAYJOB["spec"]["entrypoint"]
    assert RAYJOB["spec"]["backoffLimit"]


@pytest.mark.parametrize(
    "command",
    [
        *([" ".join(one["command"])] for name, one in COMPOSE["services"].items() if name in {"serve", "upgrade"}),
        [RAYJOB["spec"]["entrypoint"].removeprefix("jury ")],
        [of("CMD")[-1].strip("[]").replace('"', "").replace(",", "")],
    ],
    ids=lambda command: command[0].split()[0],
)
def test_commands_of_deployments_have_known_options(command: list[str]) -> None:
    words = command[0].split()
    named = [word for word in words[:2] if not word.startswith(("-", "/"))]
    shown = subprocess.run(
        [JURY, *named, "--help-all" if words[0] == "run" else "--help"],
        capture_output=True, text=True, check=True, timeout=300, env=environment({}),
    ).stdout  # fmt: skip

    assert all(re.search(rf"^ +{option}\b", shown, re.MULTILINE) for option in words if option.startswith("--"))


def test_the_image_runs_as_a_user_of_its_own_from_a_folder_that_is_its() -> None:
    assert "10001" == of("USER")[-1]
    assert any("--uid 10001" in one and "--owner jury /data" in one for one in of("RUN"))
    assert INSTRUCTIONS.index(("USER", "10001")) < INSTRUCTIONS.index(("ENTRYPOINT", '["jury"]'))
    assert "/data" == of("WORKDIR")[-1]


@pytest.mark.full
def test_the_steps_of_the_image_give_a_command_that_works(tmp_path: Path) -> None:
    """Where no builder is: the building steps run in folders of the test, and the result in a bare environment."""
    shutil.copytree(
        ROOT,
        tmp_path / "src",
        ignore=shutil.ignore_patterns(".git", ".venv", ".tools", "tests", "docs", "*_cache", "__pycache__", "*.db*"),
    )
    (step,) = (one for one in of("RUN") if "uv build" in one)
    step = step.replace("/opt/jury", f"{tmp_path}/jury").replace("/dist/", f"{tmp_path}/dist/")
    step = step.replace("--out-dir /dist", f"--out-dir {tmp_path}/dist").replace("pip install --no-cache-dir uv &&", "")
    (extras,) = (one.split("=")[1] for one in of("ARG") if one.startswith("EXTRAS"))
    built = {**os.environ, "EXTRAS": extras, "UV_PROJECT_ENVIRONMENT": f"{tmp_path}/none"}

    subprocess.run(["sh", "-c", step], cwd=tmp_path / "src", env=built, check=True, timeout=900, capture_output=True)

    (settings,) = (dict(one.split("=", 1) for one in line.split()) for line in of("ENV"))
    bare = {"PATH": f"{tmp_path}/jury/bin:/usr/bin:/bin", "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    bare |= {"JURY_STORE_URL": settings["JURY_STORE_URL"].replace("/data", str(tmp_path))}

    def jury(*words: str) -> str:
        done = subprocess.run(
            ["jury", *words], env=bare, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600
        )
        assert 0 == done.returncode, done.stderr
        return done.stdout

    assert "simulated" in jury("demo", "--in-process", "--json")
    assert "1 debate" in jury("verify", "--all")
    assert jury("doctor")
    (cases := tmp_path / "cases.jsonl").write_text('{"question": "Open?", "response": "At nine."}\n')
    assert jury("run", str(cases), "--run", "first")
