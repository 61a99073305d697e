"""The trainings of a campaign: what is trained, here, beside one another, or on other machines."""
