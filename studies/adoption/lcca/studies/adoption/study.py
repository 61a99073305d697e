"""Adoption: what the first senders gain that adopt a policy, and what it costs all others."""

from lcca.inputs.studies import ReportSection, Study, Variant

STUDY = Study(
    variants={"compare": Variant("command", "shares", "recipe:adopting")},
    sections=[ReportSection("adoption", "Adoption", "report.sections:adoption", before="questions")],
)
