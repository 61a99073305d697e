"""The trainings of a campaign: here, beside one another, or on other machines."""
