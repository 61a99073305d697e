"""CCEval: estimates of one metric of one policy until they are accurate enough."""

from lcca.inputs.studies import Command, FileOfUsers, ReportSection, Study

STUDY = Study(
    commands={"estimate": Command("answer", "Estimate a metric of one policy until it is accurate enough.", "command")},
    functions={"estimate": "recipe:estimate"},
    files={"estimate": FileOfUsers("an estimation", "lcca estimate FILE", "config:EstimationConfig")},
    sections=[ReportSection("convergence", "Estimates", "report.sections:estimates", before="agreement")],
    headlines={"estimates": "report.words:headline"},
    moved={"configs/cceval": "configs", "configs/fabric": "configs"},
)
