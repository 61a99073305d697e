"""Design: which header a switch should fill, within bytes on the wire and state of a port."""

from lcca.inputs.studies import Command, FileOfUsers, ReportSection, Starter, Study

STUDY = Study(
    commands={
        "design": Command(
            "learn", "Search the header that pays most within bytes on the wire and state of a port.", "command"
        )
    },
    functions={"design": "recipe:design"},
    files={"design": FileOfUsers("a search for a header", "lcca design FILE", "config:DesignConfig")},
    starters={"design": Starter("which header should exist, within bytes and state?", "starter.yaml", "design")},
    sections=[
        ReportSection("front", "Headers by budget", "report.sections:front", before="questions"),
        ReportSection("tried", "What was tried", "report.sections:tried", before="questions"),
    ],
    headlines={"design": "report.words:headline"},
)
