"""What can be asked for: a frozen dataclass for each verb (`lcca.inputs.options`), light enough for `--help`."""
