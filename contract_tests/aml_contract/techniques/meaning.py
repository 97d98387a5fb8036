"""Meaning: messages and questions without a common telling word.

Whether a question in other words finds anything is quality, and never judged. That it
finds what it found before, or finds a moment later, tells whether an index was written.
"""

SAID = (
    ("We adopted a kitten from the shelter on Maple Street.", "Which pet lives in their home?"),
    ("I can't eat peanuts, they make my throat swell.", "Does the person have a food allergy?"),
    ("My sister moved to Lisbon to teach at a school.", "Where does a sibling work nowadays?"),
    ("The car broke down, so I take the tram every morning.", "How do they commute?"),
)
"""Messages and questions that share a meaning and no telling word."""
BESIDE = (
    "The printer on the third floor is out of toner again.",
    "Rain is expected all weekend along the northern coast.",
    "He finished the second chapter of his history thesis.",
    "The orchestra plays Dvořák at the town hall in June.",
    "Our landlord wants to repaint the staircase green.",
    "She scored twice in the final and lost a tooth.",
    "The bakery closes early because of the holiday.",
    "A new bridge over the canal opens next autumn.",
)
"""Messages about none of the questions."""
