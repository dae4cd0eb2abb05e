"""The packets of Libera, by their application process identifier (APID).

Source: libera_utils, `constants.py`, https://github.com/LASP-Libera/libera_utils
"""

CONSTRUCTION_RECORD = "PDS-CR"
PACKETS = {
    11: "SC-POS",  # position and attitude, from the spacecraft
    1000: "PEV-SW-STAT",
    1002: "PEC-SW-STAT",
    1013: "SW-STAT",
    1017: "SEQ-HK",
    1019: "FP-HK",
    1026: "LOG-MSG",
    1035: "RAD-FULL",
    1036: "RAD-SAMPLE",
    1037: "AXIS-HK",
    1038: "WFOV-HK",
    1040: "WFOV-SCI",
    1043: "CAL-FULL",
    1044: "CAL-SAMPLE",
    1048: "AXIS-SAMPLE",
    1049: "WFOV-RESP",
    1051: "CRIT-HK",
    1057: "NOM-HK",
    1059: "ANA-HK",
    1060: "TEMP-HK",
}


def product_of(apid: int) -> str:
    """The Level 0 product of these packets."""
    return f"{PACKETS.get(apid, f'APID{apid}')}-PDS"
