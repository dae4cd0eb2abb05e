"""The contrast of two colours as WCAG 2 has it."""

import re


def parts(colour: str) -> list[float]:
    """Red, green and blue from 0 to 1, of a colour as CSS writes it: `#rrggbb`, or `rgb(0-255, 0-255, 0-255)`."""
    if "#" in colour:
        return [int(part, 16) / 255 for part in re.findall("[0-9a-f]{2}", colour)]
    return [float(part) / 255 for part in re.findall(r"[\d.]+", colour)[:3]]


def blended(colour: str, ground: str, opacity: float) -> str:
    """A colour that is partly transparent, on a ground."""
    mixed = [opacity * part + (1 - opacity) * under for part, under in zip(parts(colour), parts(ground), strict=True)]
    return f"rgb({', '.join(str(255 * part) for part in mixed)})"


def luminance(colour: str) -> float:
    """Between 0 for black and 1 for white."""
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """From 1, of a colour with itself, to 21."""
    dark, bright = sorted(map(luminance, (one, other)))
    return (bright + 0.05) / (dark + 0.05)
