"""What packages lcca says the same as pyproject.toml and the Makefile."""

import re
import tomllib
from pathlib import Path

from ruamel.yaml import YAML

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_wheels_are_for_the_pythons_that_are_supported() -> None:
    settings = PROJECT["tool"]["cibuildwheel"]
    assert settings["build"] == ["cp311-*", "cp312-*", "cp313-*"]
    assert PROJECT["project"]["requires-python"] == ">=3.11"


def test_the_recipe_needs_what_the_project_needs() -> None:
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    recipe = YAML(typ="safe").load(re.sub(r"\{%.*?%\}|#.*", "", text).replace("{{", "<").replace("}}", ">"))
    needed = {each.replace("matplotlib-base", "matplotlib").replace(" ", "") for each in recipe["requirements"]["run"]}
    assert needed - {"python"} == set(PROJECT["project"]["dependencies"])
    assert f'version = "{PROJECT["project"]["version"]}"' in text


def test_the_image_has_the_ns3_of_the_makefile() -> None:
    wanted = re.search(r'"ns3==[^"]+"', (ROOT / "Makefile").read_text())
    assert wanted and wanted[0] in (ROOT / "packaging" / "Dockerfile").read_text()
