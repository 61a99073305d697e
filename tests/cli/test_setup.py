"""Commands for the start: completion, suggestions for mistyped words, what `lcca check` looks at."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ..fixtures import RunCommand


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_commands_options_and_files(lcca: RunCommand, tmp_path: Path) -> None:
    pytest.importorskip("shtab", reason="shtab is not installed (the extra completion)")
    script = tmp_path / "lcca.bash"
    script.write_text(lcca("complete", "bash").out)
    (tmp_path / "mine.yaml").touch()

    def completed(*words: str) -> set[str]:
        line = " ".join(f"'{word}'" for word in ("lcca", *words))
        ask = f"source {script}; COMP_WORDS=({line}); COMP_CWORD={len(words)}; _shtab_lcca; echo ${{COMPREPLY[@]}}"
        done = subprocess.run(["bash", "-c", ask], cwd=tmp_path, capture_output=True, text=True, timeout=30)
        return set(done.stdout.split())

    assert {"sweep", "schema"} <= completed("s") and "tune" not in completed("s")
    assert "--trainings" in completed("sweep", "--trainings"[:7])
    assert completed("schema", "camp") == {"campaign"}
    assert "mine.yaml" in completed("sweep", "mi")


def test_completion_without_its_extra_says_how_to_get_it(lcca: RunCommand, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lcca.inputs.extras.find_spec", lambda name: None)
    answer = lcca("complete", "bash")
    assert answer.status == 2 and answer.out == "" and "pip install 'lcca[completion]'" in answer.err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("sweeep",), "unknown command 'sweeep' (did you mean 'sweep'?)"),
        (("sweep", "x.yaml", "--trainigns", "2"), "unknown option '--trainigns' (did you mean '--trainings'?)"),
        (("show", "signals", "--jsn=1"), "unknown option '--jsn' (did you mean '--json'?)"),
        (("show", "signal", "queue", "x"), "'x': one argument too many"),
    ],
)
def test_mistyped_words_get_a_suggestion(lcca: RunCommand, words: tuple[str, ...], message: str) -> None:
    answer = lcca(*words)
    assert answer.status == 2 and answer.err.startswith(f"lcca: {message}") and answer.err.count("\n") == 1


def test_check_looks_at_extras_ns3_the_fabric_and_ray(lcca: RunCommand) -> None:
    found = {each["name"]: each for each in lcca("check", "--json").json()["findings"]}
    assert {"engine", "fabric", "drl", "tune", "ns3gym", "ray", "completion", "ns-3"} <= set(found)
    assert found["fabric"]["state"] == "ok"
    assert all(each["fix"] for each in found.values() if each["state"] != "ok")
