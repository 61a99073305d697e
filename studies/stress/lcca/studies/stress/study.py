"""Stress: networks where a policy loses most against others, found by a search and confirmed."""

from lcca.inputs.studies import Command, ReportSection, Study

STUDY = Study(
    commands={
        "stress": Command(
            "answer", "Search a network space for networks where a policy loses most, and confirm them.", "command"
        )
    },
    functions={"stress": "recipe:stress"},
    sections=[ReportSection("hard", "Hard networks", "report.sections:hard", before="questions")],
    headlines={"hard_networks": "report.words:hard_words"},
    moved={"configs/stress": "configs"},
)
