-- Side by side: CHECK secret_version_content on secret_version: a version that an older server writes has its value, and only a copy of a destroyed one is refused

-- AlterTable
ALTER TABLE "secret_version" ADD COLUMN     "destroyed_at" TIMESTAMPTZ(3),
ADD COLUMN     "destroyed_by_id" UUID,
ADD COLUMN     "destroyed_by_type" "actor_type",
ADD COLUMN     "destroyed_by_name" TEXT;

-- What schema.prisma cannot say.

-- A version has its value whole, or it was destroyed by somebody and nothing of it is left. The bytes stay NOT NULL for
-- servers that know of no destruction: they find a value that does not open, and cannot copy it into a new version,
-- because that would be one without a value that nobody destroyed. NOT VALID, so that no row is looked at while the
-- table is locked.
ALTER TABLE "secret_version" ADD CONSTRAINT "secret_version_content" CHECK (
    CASE WHEN "destroyed_at" IS NULL
        THEN octet_length("ciphertext") > 0 AND octet_length("value_mac") > 0
            AND "destroyed_by_id" IS NULL AND "destroyed_by_type" IS NULL AND "destroyed_by_name" IS NULL
        ELSE octet_length("ciphertext") = 0 AND octet_length("value_mac") = 0 AND "value_bytes" = 0
            AND "destroyed_by_id" IS NOT NULL AND "destroyed_by_type" IS NOT NULL AND "destroyed_by_name" IS NOT NULL
    END
) NOT VALID;
