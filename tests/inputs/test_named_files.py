"""A configuration depends on the content of all files that it names."""

from pathlib import Path

from lcca.inputs.model import Model
from lcca.inputs.named_files import FileOrName, digests_of_named_files


class Inner(Model):
    against: tuple[FileOrName, ...] = ()


class Asked(Model):
    policy: FileOrName
    title: str = ""
    sizes: FileOrName | None = None
    inner: Inner = Inner()


def test_every_file_counts_one_in_a_list_and_the_model_of_a_tuner_too(tmp_path: Path) -> None:
    file = tmp_path / "model.json"
    file.write_text("1")
    names = {
        "policy": Asked(policy=f"dcqcn@acc:{file},interval_us=50"),
        "sizes": Asked(policy="aimd", sizes=str(file)),
        "inner.against.1": Asked(policy="aimd", inner=Inner(against=("hpcc", str(file)))),
    }
    before = {key: digests_of_named_files(asked) for key, asked in names.items()}
    assert [list(found) for found in before.values()] == [[key] for key in names]
    file.write_text("2")
    assert all(digests_of_named_files(asked) != before[key] for key, asked in names.items())
    assert digests_of_named_files(Asked(policy="dctcp@red:pmax=0.1", title=str(file))) == {}
