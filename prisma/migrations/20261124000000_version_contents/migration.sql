-- Side by side: FOREIGN KEY secret_version_content_version_id_fkey keeps rows of secret_version: an older server deletes the versions of a secret together, and leaves the column null
-- Side by side: CHECK secret_version_reference on secret_version: it wants no more than secret_version_content of a version without a reference

-- AlterTable
-- The reference comes with its column, so PostgreSQL looks at no row while the table is locked.
ALTER TABLE "secret_version" ADD COLUMN     "content_version_id" UUID
    CONSTRAINT "secret_version_content_version_id_fkey" REFERENCES "secret_version"("id")
    ON DELETE NO ACTION ON UPDATE CASCADE DEFERRABLE INITIALLY IMMEDIATE;

-- What schema.prisma cannot say.

-- A version holds its value, refers to the version that holds it, or was destroyed. secret_version_content still wants
-- a value in each version: the migration that drops it is the one that permits references. NOT VALID, so that no row is
-- looked at here.
ALTER TABLE "secret_version" ADD CONSTRAINT "secret_version_reference" CHECK (
    CASE WHEN "destroyed_at" IS NULL
        THEN (octet_length("ciphertext") = 0) = ("content_version_id" IS NOT NULL) AND octet_length("value_mac") > 0
            AND "content_version_id" IS DISTINCT FROM "id"
            AND "destroyed_by_id" IS NULL AND "destroyed_by_type" IS NULL AND "destroyed_by_name" IS NULL
        ELSE octet_length("ciphertext") = 0 AND octet_length("value_mac") = 0 AND "value_bytes" = 0
            AND "content_version_id" IS NULL
            AND "destroyed_by_id" IS NOT NULL AND "destroyed_by_type" IS NOT NULL AND "destroyed_by_name" IS NOT NULL
    END
) NOT VALID;
