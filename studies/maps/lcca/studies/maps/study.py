"""Maps: where in a space of networks or on a fabric a signal set or a header is worth something."""

from lcca.inputs.studies import Command, FileOfUsers, ReportSection, Study

STUDY = Study(
    commands={
        "map": Command(
            "answer",
            "Map where in a space or on a fabric a signal set or a header is worth something, over training seeds.",
            "command",
        )
    },
    functions={"map": "recipe:map"},
    files={"map": FileOfUsers("a map", "lcca map FILE", "config:MapConfig")},
    sections=[
        ReportSection("map", "Where the signal helps", "report.sections:regions", before="questions"),
        ReportSection("effects", "Effect by parameter", "report.sections:effects", before="questions"),
    ],
    headlines={"maps": "report.words:headline"},
    moved={"configs/maps": "configs"},
)
