"""What axe finds on a page: its rules of WCAG 2.2 at AA, as far as a program can decide them, and its own practices."""

from playwright.async_api import Page

from scripts.npm_package import NpmPackage

AXE = NpmPackage(
    "axe-core",
    "4.10.3",
    sha512="Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg==",
)


async def violations(page: Page) -> list[tuple[str, list[str]]]:
    """The rules that are broken, each with the elements that break it: all rules, and the contrast in the dark, too."""
    await page.evaluate((AXE.fetched() / "axe.min.js").read_text())
    found = await page.evaluate("axe.run().then(({ violations }) => violations)")
    await page.emulate_media(color_scheme="dark")
    found += await page.evaluate("axe.run({ runOnly: ['color-contrast'] }).then(({ violations }) => violations)")
    await page.emulate_media(color_scheme="light")
    return [(rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found]
